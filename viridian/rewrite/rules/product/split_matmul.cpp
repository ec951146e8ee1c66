// Takes a product apart whose columns are split: Split(x·[A, B]) ⇒ x·A, x·B. It is merge_matmuls of TASO,
// backwards.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_split_matmul(Editor& editor, NodeId at) {
    const auto parts = Parts::of(editor, editor.node(at));
    const Node* product = parts ? editor.producer(parts->whole, op::MatMul) : nullptr;
    if (product == nullptr || !editor.used_once(parts->whole) || !editor.fixed(product->inputs[1]) ||
        parts->axis + 1 != editor.rank(parts->whole) || editor.rank(product->inputs[1]) != 2 ||
        editor.rank(product->inputs[0]).value_or(0) < 2)
        return false;
    const std::vector<ValueId> weights = add_split(editor, product->inputs[1], 1, parts->sizes);
    for (std::size_t i = 0; i < weights.size(); ++i)
        editor.replace(parts->values[i], editor.add(op::MatMul, {product->inputs[0], weights[i]}));
    return true;
}

Graph split_matmul_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims sizes = {g.extent(1, 3), g.extent(1, 4), g.extent(1, 2)};
    const std::int64_t k = g.extent(1, 5);
    Dims dims = {g.extent(1, 4), k};
    if (g.coin()) dims.insert(dims.begin(), g.extent(1, 3));
    const ValueId y = g.add(op::MatMul, {g.input(dims), g.constant({k, sizes[0] + sizes[1] + sizes[2]})});
    return g.finish(g.split(y, -1, sizes));
}

}  // namespace

Rule split_matmul() {
    return {.name = "split_matmul",
            .kind = Kind::alternative,
            .source = "TASO (merge_matmuls, backwards)",
            .equation = "Split(x·[A, B]) ⇒ x·A, x·B",
            .guards = "along the last axis, a constant matrix; nothing else reads the product",
            .polynomial = true,
            .apply = apply_split_matmul,
            .instance = split_matmul_instance};
}

}  // namespace viridian::rewrite
