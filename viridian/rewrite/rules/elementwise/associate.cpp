#include "viridian/rewrite/rules/elementwise/associate.hpp"

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {

bool associate(Editor& editor, NodeId at, graph::KnownOperator op) {
    const Node& outer = editor.node(at);
    if (outer.op != op) return false;
    const Role role = role_of(outer);
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* inner = editor.producer(outer.inputs[side], op);
        const ValueId z = outer.inputs[1 - side];
        if (inner == nullptr || !editor.used_once(outer.inputs[side])) continue;
        for (const std::size_t joins : {std::size_t{1}, std::size_t{0}}) {
            const ValueId x = inner->inputs[1 - joins], y = inner->inputs[joins];
            if (!editor.same_type(y, z) || (editor.fixed(y) && editor.fixed(z)) ||
                !keeps_range(editor, x, role) || !keeps_range(editor, y, role) ||
                !keeps_range(editor, z, role))
                continue;
            const bool left = side == 0;
            const graph::Operator name = op;
            const ValueId both = left ? editor.add(name, {y, z}) : editor.add(name, {z, y});
            editor.replace(outer.outputs[0],
                           left ? editor.add(name, {x, both}) : editor.add(name, {both, x}));
            return true;
        }
    }
    return false;
}

Graph associate_instance(Random& random, ElementType element, const graph::Operator& op) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 4), g.extent(1, 5)};
    const Dims small = g.coin() ? dims : Dims{dims[1]};
    const ValueId y = g.coin() ? g.input(small) : g.constant(small);
    return g.finish({g.either_way(op, g.either_way(op, g.input(dims), y), g.input(small))});
}

}  // namespace viridian::rewrite
