// Concatenates before a transpose: [Transpose(x, p), Transpose(y, p)]ₐ ⇒ Transpose([x, y]ₚ₍ₐ₎, p). TASO and
// ONNX Runtime's TransposeOptimizer have it.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_concat_before_transpose(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != op::Concat || joined.inputs.size() < 2) return false;
    const auto axis = axis_of(editor, joined);
    std::optional<Dims> p;
    std::vector<ValueId> parts;
    for (const ValueId input : joined.inputs) {
        const Node* transpose = editor.used_once(input) ? editor.producer(input, op::Transpose) : nullptr;
        const auto own = transpose != nullptr ? permutation_of(editor, *transpose) : std::nullopt;
        if (!own || (p && p != own)) return false;
        p = own;
        parts.push_back(transpose->inputs[0]);
    }
    if (!axis) return false;
    const ValueId inner = add_concat(editor, parts, (*p)[static_cast<std::size_t>(*axis)]);
    editor.replace(joined.outputs[0], editor.add(op::Transpose, {inner}, {{"perm", *p}}));
    return true;
}

Graph concat_before_transpose_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims perm = g.permutation(3);
    const std::int64_t axis = g.extent(0, 2);
    Dims dims = {g.extent(1, 3), g.extent(1, 4), g.extent(1, 5)};
    std::vector<ValueId> parts;
    for (int i = 0; i < 3; ++i) {
        dims[static_cast<std::size_t>(perm[static_cast<std::size_t>(axis)])] = g.extent(1, 4);
        parts.push_back(g.add(op::Transpose, {g.input(dims)}, {{"perm", perm}}));
    }
    return g.finish({g.add(op::Concat, parts, {{"axis", g.coin() ? axis : axis - 3}})});
}

}  // namespace

Rule concat_before_transpose() {
    return {.name = "concat_before_transpose",
            .kind = Kind::alternative,
            .source = "TASO; ONNX Runtime TransposeOptimizer",
            .equation = "[Transpose(x, p), Transpose(y, p)]ₐ ⇒ Transpose([x, y]ₚ₍ₐ₎, p)",
            .guards = "the same permutation everywhere; nothing else reads the transposes",
            .polynomial = true,
            .apply = apply_concat_before_transpose,
            .instance = concat_before_transpose_instance};
}

}  // namespace viridian::rewrite
