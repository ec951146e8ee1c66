// Joins concatenated products that share an operand: [x·A, x·B] ⇒ x·[A, B] and [x·A; y·A] ⇒ [x; y]·A. TASO
// and Tensat have it.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/product/matrix_product.hpp"

namespace viridian::rewrite {
namespace {

bool apply_concat_matmuls(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != op::Concat || joined.inputs.size() < 2) return false;
    const auto axis = axis_of(editor, joined);
    const auto rank = editor.rank(joined.outputs[0]);
    const Node* first = matrix_product(editor, joined.inputs[0]);
    if (!axis || !rank || first == nullptr || *axis < *rank - 2) return false;
    const std::size_t apart = *axis == *rank - 1 ? 1 : 0;  // the operand that is concatenated
    std::vector<ValueId> parts;
    for (const ValueId input : joined.inputs) {
        const Node* product = matrix_product(editor, input);
        if (product == nullptr || product->inputs[1 - apart] != first->inputs[1 - apart]) return false;
        const ValueId part = product->inputs[apart];
        const auto part_rank = editor.rank(part);
        if (part_rank != editor.rank(first->inputs[apart]) ||
            !same_beside(editor, part, first->inputs[apart],
                         static_cast<std::size_t>(*part_rank - (*rank - *axis))))
            return false;
        parts.push_back(part);
    }
    std::vector<ValueId> inputs = first->inputs;
    inputs[apart] = add_concat(editor, parts, *editor.rank(first->inputs[apart]) - (*rank - *axis));
    editor.replace(joined.outputs[0], editor.add(op::MatMul, inputs));
    return true;
}

Graph concat_matmuls_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t batch = g.extent(1, 3), i = g.extent(1, 4), k = g.extent(1, 5), j = g.extent(1, 4);
    const bool batched = g.coin();
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
        return batched ? g.input({batch, rows, columns}) : g.input({rows, columns});
    };
    const bool columns = g.coin();
    const ValueId shared = columns ? matrix(i, k) : matrix(k, j);
    std::vector<ValueId> products;
    for (int n = 0; n < 3; ++n)
        products.push_back(columns ? g.add(op::MatMul, {shared, matrix(k, g.extent(1, 4))})
                                   : g.add(op::MatMul, {matrix(g.extent(1, 4), k), shared}));
    return g.finish({g.add(op::Concat, products, {{"axis", std::int64_t{columns ? -1 : -2}}})});
}

}  // namespace

Rule concat_matmuls() {
    return {.name = "concat_matmuls",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (concat of products)",
            .equation = "[x·A, x·B] ⇒ x·[A, B]; [x·A; y·A] ⇒ [x; y]·A",
            .guards =
                "along one of the last two axes; operands equal in every other extent; nothing else reads "
                "the products",
            .polynomial = true,
            .apply = apply_concat_matmuls,
            .instance = concat_matmuls_instance};
}

}  // namespace viridian::rewrite
