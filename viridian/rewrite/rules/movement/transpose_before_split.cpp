// Transposes once before a split instead of every part behind it: Transpose(x₁, p), …, Transpose(xₙ, p) ⇒
// Split(Transpose(x, p)), where x₁, …, xₙ = Split(x). TASO and ONNX Runtime's TransposeOptimizer have it.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_transpose_before_split(Editor& editor, NodeId at) {
    const auto parts = Parts::of(editor, editor.node(at));
    if (!parts) return false;
    std::optional<Dims> p;
    std::vector<const Node*> readers;
    for (const ValueId part : parts->values) {
        const Node* transpose = only_reader(editor, part);
        if (transpose == nullptr || transpose->op != op::Transpose) return false;
        const auto own = permutation_of(editor, *transpose);
        if (!own || (p && p != own)) return false;
        p = own;
        readers.push_back(transpose);
    }
    const ValueId whole = editor.add(op::Transpose, {parts->whole}, {{"perm", *p}});
    const std::vector<ValueId> fresh =
        add_split(editor, whole, inverse(*p)[static_cast<std::size_t>(parts->axis)], parts->sizes);
    for (std::size_t i = 0; i < fresh.size(); ++i) editor.replace(readers[i]->outputs[0], fresh[i]);
    return true;
}

Graph transpose_before_split_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims perm = g.permutation(3);
    const Dims sizes = {g.extent(1, 3), g.extent(1, 4)};
    const std::vector<ValueId> parts =
        g.split(g.input({g.extent(1, 3), sizes[0] + sizes[1], g.extent(1, 5)}), 1, sizes);
    std::vector<ValueId> outputs;
    for (const ValueId part : parts) outputs.push_back(g.add(op::Transpose, {part}, {{"perm", perm}}));
    return g.finish(outputs);
}

}  // namespace

Rule transpose_before_split() {
    return {.name = "transpose_before_split",
            .kind = Kind::alternative,
            .source = "TASO; ONNX Runtime TransposeOptimizer",
            .equation =
                "Transpose(x₁, p), …, Transpose(xₙ, p) ⇒ Split(Transpose(x, p)), where x₁, …, xₙ = Split(x)",
            .guards = "the same permutation of every part; nothing else reads the parts",
            .polynomial = true,
            .apply = apply_transpose_before_split,
            .instance = transpose_before_split_instance};
}

}  // namespace viridian::rewrite
