// Writes a sum of products as one product of concatenations: x·A + y·B ⇒ [x, y]·[A; B]. TASO and Tensat have
// it; split_matmul_input is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/product/matrix_product.hpp"

namespace viridian::rewrite {
namespace {

bool apply_add_matmuls(Editor& editor, NodeId at) {
    const Node& sum = editor.node(at);
    if (sum.op != op::Add || sum.inputs[0] == sum.inputs[1]) return false;
    const Node* a = matrix_product(editor, sum.inputs[0]);
    const Node* b = matrix_product(editor, sum.inputs[1]);
    if (a == nullptr || b == nullptr || !editor.same_type(sum.inputs[0], sum.inputs[1])) return false;
    const std::int64_t left = *editor.rank(a->inputs[0]), right = *editor.rank(a->inputs[1]);
    if (editor.rank(b->inputs[0]) != left || editor.rank(b->inputs[1]) != right ||
        !same_beside(editor, a->inputs[0], b->inputs[0], static_cast<std::size_t>(left - 1)) ||
        !same_beside(editor, a->inputs[1], b->inputs[1], static_cast<std::size_t>(right - 2)))
        return false;
    editor.replace(sum.outputs[0],
                   editor.add(op::MatMul, {add_concat(editor, {a->inputs[0], b->inputs[0]}, left - 1),
                                           add_concat(editor, {a->inputs[1], b->inputs[1]}, right - 2)}));
    return true;
}

Graph add_matmuls_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t i = g.extent(1, 4), j = g.extent(1, 4), batch = g.extent(1, 3);
    const bool batched = g.coin();
    const auto product = [&] {
        const std::int64_t k = g.extent(1, 5);
        const ValueId x = batched ? g.input({batch, i, k}) : g.input({i, k});
        return g.add(op::MatMul, {x, g.constant({k, j})});
    };
    const ValueId a = product();
    return g.finish({g.add(op::Add, {a, product()})});
}

}  // namespace

Rule add_matmuls() {
    return {
        .name = "add_matmuls",
        .kind = Kind::alternative,
        .source = "TASO; Tensat (sum of products as a product of concatenations)",
        .equation = "x·A + y·B ⇒ [x, y]·[A; B]",
        .guards =
            "operands equal in every extent but the one that is summed over; nothing else reads the products",
        .polynomial = true,
        .apply = apply_add_matmuls,
        .instance = add_matmuls_instance};
}

}  // namespace viridian::rewrite
