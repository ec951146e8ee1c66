// Writes a transposed operand of Gemm as an attribute: Gemm(aᵀ, b, c) ⇒ Gemm(a, b, c; transA), and bᵀ too.
// ONNX Runtime joins Gemm and Transpose at level 1.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_transpose_into_gemm(Editor& editor, NodeId at) {
    const Node& gemm = editor.node(at);
    if (gemm.op != op::Gemm) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* transpose = editor.producer(gemm.inputs[side], op::Transpose);
        const auto p = transpose != nullptr ? permutation_of(editor, *transpose) : std::nullopt;
        if (!p || *p != Dims{1, 0}) continue;
        std::vector<ValueId> inputs = gemm.inputs;
        inputs[side] = transpose->inputs[0];
        Attributes attributes = gemm.attributes;
        const char* key = side == 0 ? "transA" : "transB";
        attributes[key] = std::int64_t{gemm.integer(key, 0) == 0 ? 1 : 0};
        editor.replace(gemm.outputs[0], editor.add(op::Gemm, inputs, attributes));
        return true;
    }
    return false;
}

Graph transpose_into_gemm_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t i = g.extent(1, 4), k = g.extent(1, 5), j = g.extent(1, 3);
    const bool left = g.coin();
    const std::int64_t trans_a = g.extent(0, 1), trans_b = g.extent(0, 1);
    const auto operand = [&](std::int64_t rows, std::int64_t columns, bool flip, bool given_transposed) {
        const bool stored = flip != given_transposed;
        const ValueId x = g.input(stored ? Dims{columns, rows} : Dims{rows, columns});
        return given_transposed ? g.add(op::Transpose, {x}) : x;
    };
    const ValueId a = operand(i, k, trans_a != 0, left);
    std::vector<ValueId> inputs = {a, operand(k, j, trans_b != 0, !left || g.coin())};
    if (g.coin()) inputs.push_back(g.constant({j}));
    return g.finish({g.add(op::Gemm, inputs, {{"transA", trans_a}, {"transB", trans_b}, {"alpha", 2.0}})});
}

}  // namespace

Rule transpose_into_gemm() {
    return {.name = "transpose_into_gemm",
            .kind = Kind::alternative,
            .source = "ONNX Runtime level 1 (Gemm and Transpose)",
            .equation = "Gemm(aᵀ, b, c) ⇒ Gemm(a, b, c; transA); bᵀ alike",
            .guards = "none",
            .polynomial = true,
            .apply = apply_transpose_into_gemm,
            .instance = transpose_into_gemm_instance};
}

}  // namespace viridian::rewrite
