// Transposes through products: of the matrices, which changes their order, and of the batches before them.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

// A permutation that keeps the last two axes last, in either order.
bool batches_apart(const Dims& p) {
    const std::int64_t first = static_cast<std::int64_t>(p.size()) - 2;
    return p.size() >= 2 && p[p.size() - 1] >= first && p[p.size() - 2] >= first;
}

bool swaps(const Dims& p) { return p[p.size() - 1] < p[p.size() - 2]; }

// (a·b)ᵀ ⇒ bᵀ·aᵀ
bool before(Editor& editor, NodeId at) {
    const Node& transpose = editor.node(at);
    if (transpose.op != "Transpose" || !transpose.domain.empty()) return false;
    const Node* product = editor.producer(transpose.inputs[0], "MatMul");
    const auto p = permutation_of(editor, transpose);
    if (product == nullptr || !editor.used_once(transpose.inputs[0]) || !p || !batches_apart(*p))
        return false;
    const auto rank = static_cast<std::int64_t>(p->size());
    if (editor.rank(product->inputs[0]) != rank || editor.rank(product->inputs[1]) != rank) return false;
    std::vector<ValueId> inputs;
    for (const ValueId input : product->inputs)
        inputs.push_back(editor.add("Transpose", {input}, {{"perm", *p}}));
    if (swaps(*p)) std::swap(inputs[0], inputs[1]);
    editor.replace(transpose.outputs[0], editor.add("MatMul", inputs));
    return true;
}

// aᵀ·bᵀ ⇒ (b·a)ᵀ
bool after(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != "MatMul" || !product.domain.empty()) return false;
    std::vector<ValueId> inputs;
    std::optional<Dims> p;
    for (const ValueId input : product.inputs) {
        const Node* transpose = editor.used_once(input) ? editor.producer(input, "Transpose") : nullptr;
        const auto own = transpose != nullptr ? permutation_of(editor, *transpose) : std::nullopt;
        if (!own || !batches_apart(*own) || (p && p != own)) return false;
        p = own;
        inputs.push_back(transpose->inputs[0]);
    }
    if (swaps(*p)) std::swap(inputs[0], inputs[1]);
    editor.replace(product.outputs[0],
                   editor.add("Transpose", {editor.add("MatMul", inputs)}, {{"perm", *p}}));
    return true;
}

// Gemm(aᵀ, b) ⇒ Gemm(a, b; transA)
bool into_gemm(Editor& editor, NodeId at) {
    const Node& gemm = editor.node(at);
    if (gemm.op != "Gemm" || !gemm.domain.empty()) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* transpose = editor.producer(gemm.inputs[side], "Transpose");
        const auto p = transpose != nullptr ? permutation_of(editor, *transpose) : std::nullopt;
        if (!p || *p != Dims{1, 0}) continue;
        std::vector<ValueId> inputs = gemm.inputs;
        inputs[side] = transpose->inputs[0];
        Attributes attributes = gemm.attributes;
        const char* key = side == 0 ? "transA" : "transB";
        attributes[key] = std::int64_t{gemm.integer(key, 0) == 0 ? 1 : 0};
        editor.replace(gemm.outputs[0], editor.add("Gemm", inputs, attributes));
        return true;
    }
    return false;
}

// Reshape(x, […, k])·W ⇒ Reshape(x·W, […, n])
bool reshape_after(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != "MatMul" || !product.domain.empty() || editor.rank(product.inputs[1]) != 2)
        return false;
    const Node* reshape = editor.producer(product.inputs[0], "Reshape");
    if (reshape == nullptr || !editor.used_once(product.inputs[0])) return false;
    const auto from = editor.dims(reshape->inputs[0]);
    const auto to = editor.dims(product.inputs[0]);
    const auto y = editor.dims(product.outputs[0]);
    if (!from || !to || !y || from->size() < 2 || to->size() < 2 || from->back() != to->back()) return false;
    const ValueId inner = editor.add("MatMul", {reshape->inputs[0], product.inputs[1]});
    editor.replace(product.outputs[0], editor.add("Reshape", {inner, editor.vector_of(*y)}));
    return true;
}

struct Pair {
    Dims a, b, perm;
};
// Operands of equal rank, and a permutation that keeps matrices together.
Pair pair(Sketch& s) {
    const std::int64_t i = s.extent(1, 4), k = s.extent(1, 5), j = s.extent(1, 3);
    const std::int64_t batches = s.extent(0, 2);
    Dims batch, perm = s.permutation(batches);
    for (std::int64_t n = 0; n < batches; ++n) batch.push_back(s.extent(1, 3));
    Pair made{batch, batch, perm};
    made.a.insert(made.a.end(), {i, k});
    made.b.insert(made.b.end(), {k, j});
    const bool swapped = batches == 0 || s.coin();
    made.perm.push_back(batches + (swapped ? 1 : 0));
    made.perm.push_back(batches + (swapped ? 0 : 1));
    return made;
}

Graph before_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Pair p = pair(s);
    const ValueId a = s.input(p.a);
    return s.finish({s.add("Transpose", {s.add("MatMul", {a, s.input(p.b)})}, {{"perm", p.perm}})});
}

Graph after_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Pair p = pair(s);
    const Dims back = inverse(p.perm);
    const auto transposed = [&](const Dims& dims) {  // an input whose transpose has these dims
        Dims before(dims.size());
        for (std::size_t i = 0; i < dims.size(); ++i) before[static_cast<std::size_t>(p.perm[i])] = dims[i];
        return s.add("Transpose", {s.input(before)}, {{"perm", p.perm}});
    };
    // The batches as the permutation leaves them.
    Dims a = p.a, b = p.b;
    for (std::size_t i = 0; i + 2 < a.size(); ++i) a[i] = b[i] = p.a[static_cast<std::size_t>(p.perm[i])];
    const ValueId x = transposed(a);
    return s.finish({s.add("MatMul", {x, transposed(b)})});
}

Graph gemm_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t i = s.extent(1, 4), k = s.extent(1, 5), j = s.extent(1, 3);
    const bool left = s.coin();
    const std::int64_t trans_a = s.extent(0, 1), trans_b = s.extent(0, 1);
    const auto operand = [&](std::int64_t rows, std::int64_t columns, bool flip, bool given_transposed) {
        const bool stored = flip != given_transposed;
        const ValueId x = s.input(stored ? Dims{columns, rows} : Dims{rows, columns});
        return given_transposed ? s.add("Transpose", {x}) : x;
    };
    const ValueId a = operand(i, k, trans_a != 0, left);
    std::vector<ValueId> inputs = {a, operand(k, j, trans_b != 0, !left || s.coin())};
    if (s.coin()) inputs.push_back(s.constant({j}));
    return s.finish({s.add("Gemm", inputs, {{"transA", trans_a}, {"transB", trans_b}, {"alpha", 2.0}})});
}

Graph reshape_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t k = s.extent(1, 5);
    const bool flatten = s.coin();
    const ValueId x = flatten ? s.input({s.extent(1, 3), s.extent(1, 4), k}) : s.input({6, k});
    const ValueId y = s.add("Reshape", {x, s.integers(flatten ? Dims{-1, k} : Dims{2, 3, k})});
    return s.finish({s.add("MatMul", {y, s.constant({k, s.extent(1, 4)})})});
}

}  // namespace

Rule transpose_before_matmul() {
    return {.name = "transpose_before_matmul",
            .kind = Kind::alternative,
            .source = "TASO (transpose of a product)",
            .equation = "(a·b)ᵀ ⇒ bᵀ·aᵀ; axes of batches alike",
            .guards =
                "the last two axes stay last; both operands have the product's rank; nothing else reads the "
                "product",
            .polynomial = true,
            .apply = before,
            .instance = before_instance};
}

Rule transpose_after_matmul() {
    return {.name = "transpose_after_matmul",
            .kind = Kind::alternative,
            .source = "TASO (transpose of a product)",
            .equation = "aᵀ·bᵀ ⇒ (b·a)ᵀ; axes of batches alike",
            .guards =
                "the same permutation on both sides, which keeps the last two axes last; nothing else reads "
                "the transposes",
            .polynomial = true,
            .apply = after,
            .instance = after_instance};
}

Rule transpose_into_gemm() {
    return {.name = "transpose_into_gemm",
            .kind = Kind::alternative,
            .source = "ONNX Runtime level 1 (Gemm and Transpose)",
            .equation = "Gemm(aᵀ, b, c) ⇒ Gemm(a, b, c; transA); bᵀ alike",
            .guards = "none",
            .polynomial = true,
            .apply = into_gemm,
            .instance = gemm_instance};
}

Rule reshape_after_matmul() {
    return {.name = "reshape_after_matmul",
            .kind = Kind::alternative,
            .source = "issue 3 (reshape motion through matmul)",
            .equation = "Reshape(x, […, k])·W ⇒ Reshape(x·W, […, n])",
            .guards = "W is a matrix, the last axis of x is k already; nothing else reads the reshaped x",
            .polynomial = true,
            .apply = reshape_after,
            .instance = reshape_instance};
}

}  // namespace viridian::rewrite
