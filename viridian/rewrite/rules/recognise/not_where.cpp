// Removes a negation before a choice: Where(¬m, x, y) ⇒ Where(m, y, x). ONNX Runtime calls it NotWhere.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_not_where(Editor& editor, NodeId at) {
    const Node& where = editor.node(at);
    if (where.op != op::Where) return false;
    const Node* inverted = editor.producer(where.inputs[0], op::Not);
    if (inverted == nullptr) return false;
    editor.replace(where.outputs[0],
                   editor.add(op::Where, {inverted->inputs[0], where.inputs[2], where.inputs[1]}));
    return true;
}

Graph not_where_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 4), g.extent(1, 5)};
    const ValueId x = g.input(dims);
    const ValueId mask = g.add(op::Not, {g.add(op::Greater, {x, g.scalar(0)})});
    return g.finish({g.add(op::Where, {mask, g.coin() ? g.used(x) : g.scalar(-9), g.input({dims[1]})})});
}

}  // namespace

Rule not_where() {
    return {.name = "not_where",
            .source = "ONNX Runtime level 1 (NotWhere)",
            .equation = "Where(¬m, x, y) ⇒ Where(m, y, x)",
            .guards = "none",
            .apply = apply_not_where,
            .instance = not_where_instance};
}

}  // namespace viridian::rewrite
