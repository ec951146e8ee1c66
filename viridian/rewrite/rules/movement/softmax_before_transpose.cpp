// Normalises before a transpose: Softmaxₐ(Transpose(x, p)) ⇒ Transpose(Softmaxₚ₍ₐ₎(x), p), and LogSoftmax
// too. ONNX Runtime's TransposeOptimizer has it.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool is_softmax(const Node& node) { return (node.op == op::Softmax || node.op == op::LogSoftmax); }

bool apply_softmax_before_transpose(Editor& editor, NodeId at) {
    const Node& f = editor.node(at);
    if (!is_softmax(f) || !editor.used_once(f.inputs[0])) return false;
    const Node* transpose = editor.producer(f.inputs[0], op::Transpose);
    const auto p = transpose != nullptr ? permutation_of(editor, *transpose) : std::nullopt;
    const auto axis = axis_of(editor, f, -1);
    if (!p || !axis) return false;
    const ValueId inner =
        editor.add(f.op, {transpose->inputs[0]}, {{"axis", (*p)[static_cast<std::size_t>(*axis)]}});
    editor.replace(f.outputs[0], editor.add(op::Transpose, {inner}, {{"perm", *p}}));
    return true;
}

Graph softmax_before_transpose_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const ValueId x = g.input({g.extent(1, 3), g.extent(1, 4), g.extent(2, 5)});
    const ValueId y = g.add(op::Transpose, {x}, {{"perm", g.permutation(3)}});
    return g.finish({g.add(g.coin() ? "Softmax" : "LogSoftmax", {y}, {{"axis", g.extent(-3, 2)}})});
}

}  // namespace

Rule softmax_before_transpose() {
    return {.name = "softmax_before_transpose",
            .kind = Kind::alternative,
            .source = "ONNX Runtime TransposeOptimizer",
            .equation = "Softmaxₐ(Transpose(x, p)) ⇒ Transpose(Softmaxₚ₍ₐ₎(x), p); LogSoftmax alike",
            .guards = "nothing else reads the transposed x",
            .apply = apply_softmax_before_transpose,
            .instance = softmax_before_transpose_instance};
}

}  // namespace viridian::rewrite
