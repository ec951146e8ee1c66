// Multiplies concatenated columns apart: [x, y]·W ⇒ x·W₁ + y·W₂. It is add_matmuls of TASO and Tensat,
// backwards.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_split_matmul_input(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != op::MatMul || !editor.fixed(product.inputs[1]) || editor.rank(product.inputs[1]) != 2)
        return false;
    const Node* joined = editor.producer(product.inputs[0], op::Concat);
    const auto axis = joined != nullptr ? axis_of(editor, *joined) : std::nullopt;
    if (!axis || !editor.used_once(product.inputs[0]) || *axis + 1 != editor.rank(product.inputs[0]) ||
        *axis == 0 || joined->inputs.size() != 2)
        return false;
    Dims sizes;
    for (const ValueId input : joined->inputs) {
        const auto dims = editor.dims(input);
        if (!dims) return false;
        sizes.push_back(dims->back());
    }
    const std::vector<ValueId> weights = add_split(editor, product.inputs[1], 0, sizes);
    editor.replace(product.outputs[0],
                   editor.add(op::Add, {editor.add(op::MatMul, {joined->inputs[0], weights[0]}),
                                        editor.add(op::MatMul, {joined->inputs[1], weights[1]})}));
    return true;
}

Graph split_matmul_input_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t i = g.extent(1, 4), a = g.extent(1, 4), b = g.extent(1, 5);
    const ValueId x = g.input({2, i, a});
    const ValueId joined =
        g.add(op::Concat, {x, g.input({2, i, b})}, {{"axis", std::int64_t{g.coin() ? 2 : -1}}});
    return g.finish({g.add(op::MatMul, {joined, g.constant({a + b, g.extent(1, 5)})})});
}

}  // namespace

Rule split_matmul_input() {
    return {.name = "split_matmul_input",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (add_matmuls, backwards)",
            .equation = "[x, y]·W ⇒ x·W₁ + y·W₂",
            .guards = "W is a constant matrix; nothing else reads the concatenation",
            .polynomial = true,
            .apply = apply_split_matmul_input,
            .instance = split_matmul_input_instance};
}

}  // namespace viridian::rewrite
