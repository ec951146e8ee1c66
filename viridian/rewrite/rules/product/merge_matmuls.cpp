// Joins two products of one input: x·A, x·B ⇒ Split(x·[A, B]), and Gemm with its bias too. SUBSTATION §IV-B
// stacks the projections Q, K and V, and TASO has it; split_matmul is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

// A product with a constant matrix [K, N], or [N, K] in a Gemm with transB.
struct ConstantProduct {
    const Node* node;
    Dims weights;
    bool columns;  // outputs lie along the second axis of the weights
    [[nodiscard]] std::int64_t width() const { return weights[columns ? 1 : 0]; }
};

std::optional<ConstantProduct> constant_product(const Editor& editor, NodeId id) {
    const Node& node = editor.node(id);
    const bool gemm = node.op == op::Gemm;
    if ((!gemm && node.op != op::MatMul) || !editor.fixed(node.inputs[1])) return std::nullopt;
    const auto weights = editor.dims(node.inputs[1]);
    const auto rank = editor.rank(node.inputs[0]);
    if (!weights || weights->size() != 2 || !rank || *rank < 2) return std::nullopt;
    ConstantProduct p{&node, *weights, !gemm || node.integer("transB", 0) == 0};
    if (gemm && (node.get("alpha", 1.0) != 1 || node.get("beta", 1.0) != 1)) return std::nullopt;
    if (node.input(2) != ValueId::none &&
        (!editor.fixed(node.inputs[2]) || editor.dims(node.inputs[2]) != Dims{p.width()}))
        return std::nullopt;
    return p;
}

bool apply_merge_matmuls(Editor& editor, NodeId at) {
    const auto second = constant_product(editor, at);
    if (!second) return false;
    for (const NodeId other : editor.readers(second->node->inputs[0])) {
        const auto first = index(other) < index(at) ? constant_product(editor, other) : std::nullopt;
        if (!first || first->node->op != second->node->op ||
            first->node->inputs[0] != second->node->inputs[0] ||
            !same_attributes(first->node->attributes, second->node->attributes) ||
            (first->node->input(2) == ValueId::none) != (second->node->input(2) == ValueId::none))
            continue;
        std::vector<ValueId> inputs = {
            first->node->inputs[0], editor.add(op::Concat, {first->node->inputs[1], second->node->inputs[1]},
                                               {{"axis", std::int64_t{first->columns ? 1 : 0}}})};
        if (first->node->input(2) != ValueId::none)
            inputs.push_back(editor.add(op::Concat, {first->node->inputs[2], second->node->inputs[2]},
                                        {{"axis", std::int64_t{0}}}));
        const ValueId stacked = editor.add(first->node->op, inputs, first->node->attributes);
        const ValueId before[] = {first->node->outputs[0], second->node->outputs[0]};
        const std::vector<ValueId> parts = add_split(editor, stacked, -1, {first->width(), second->width()});
        editor.replace(before[0], parts[0]);
        editor.replace(before[1], parts[1]);
        return true;
    }
    return false;
}

Graph merge_matmuls_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t k = g.extent(1, 5);
    const bool gemm = g.coin();
    Dims dims = {g.extent(1, 4), k};
    if (!gemm && g.coin()) dims.insert(dims.begin(), g.extent(1, 3));
    const ValueId x = g.input(dims);
    const std::int64_t transposed = gemm ? g.extent(0, 1) : 0;
    const bool bias = gemm && g.coin();
    const auto one = [&] {
        const std::int64_t n = g.extent(1, 6);
        std::vector<ValueId> inputs = {x, g.constant(transposed != 0 ? Dims{n, k} : Dims{k, n})};
        if (bias) inputs.push_back(g.constant({n}));
        return gemm ? g.add(op::Gemm, inputs, {{"transB", transposed}}) : g.add(op::MatMul, inputs);
    };
    const ValueId a = one();
    return g.finish({a, one()});
}

}  // namespace

Rule merge_matmuls() {
    return {
        .name = "merge_matmuls",
        .kind = Kind::alternative,
        .source = "SUBSTATION §IV-B (stacked Q, K, V); TASO",
        .equation = "x·A, x·B ⇒ Split(x·[A, B]); Gemm with its bias alike",
        .guards = "A and B are constant matrices, both or neither with a bias vector, Gemm with α = β = 1",
        .polynomial = true,
        .apply = apply_merge_matmuls,
        .instance = merge_matmuls_instance};
}

}  // namespace viridian::rewrite
