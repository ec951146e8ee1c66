// Transposes change places with what works along one axis.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

bool normalises(const Node& node) {
    return node.domain.empty() && (node.op == "Softmax" || node.op == "LogSoftmax");
}

// f_axis(Transpose(x, p)) ⇒ Transpose(f_p[axis](x), p)
bool softmax_first(Editor& editor, NodeId at) {
    const Node& f = editor.node(at);
    if (!normalises(f) || !editor.used_once(f.inputs[0])) return false;
    const Node* transpose = editor.producer(f.inputs[0], "Transpose");
    const auto p = transpose != nullptr ? permutation_of(editor, *transpose) : std::nullopt;
    const auto axis = axis_of(editor, f, -1);
    if (!p || !axis) return false;
    const ValueId inner =
        editor.add(f.op, {transpose->inputs[0]}, {{"axis", (*p)[static_cast<std::size_t>(*axis)]}});
    editor.replace(f.outputs[0], editor.add("Transpose", {inner}, {{"perm", *p}}));
    return true;
}

// [Transpose(x, p), Transpose(y, p)] ⇒ Transpose([x, y], p)
bool concat_first(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != "Concat" || !joined.domain.empty() || joined.inputs.size() < 2) return false;
    const auto axis = axis_of(editor, joined);
    std::optional<Dims> p;
    std::vector<ValueId> parts;
    for (const ValueId input : joined.inputs) {
        const Node* transpose = editor.used_once(input) ? editor.producer(input, "Transpose") : nullptr;
        const auto own = transpose != nullptr ? permutation_of(editor, *transpose) : std::nullopt;
        if (!own || (p && p != own)) return false;
        p = own;
        parts.push_back(transpose->inputs[0]);
    }
    if (!axis) return false;
    const ValueId inner = add_concat(editor, parts, (*p)[static_cast<std::size_t>(*axis)]);
    editor.replace(joined.outputs[0], editor.add("Transpose", {inner}, {{"perm", *p}}));
    return true;
}

// Transpose(x₁, p), …, Transpose(xₙ, p) of every part ⇒ Split(Transpose(x, p))
bool transpose_first(Editor& editor, NodeId at) {
    const auto parts = Parts::of(editor, editor.node(at));
    if (!parts) return false;
    std::optional<Dims> p;
    std::vector<const Node*> readers;
    for (const ValueId part : parts->values) {
        const Node* transpose = only_reader(editor, part);
        if (transpose == nullptr || transpose->op != "Transpose" || !transpose->domain.empty()) return false;
        const auto own = permutation_of(editor, *transpose);
        if (!own || (p && p != own)) return false;
        p = own;
        readers.push_back(transpose);
    }
    const ValueId whole = editor.add("Transpose", {parts->whole}, {{"perm", *p}});
    const std::vector<ValueId> fresh =
        add_split(editor, whole, inverse(*p)[static_cast<std::size_t>(parts->axis)], parts->sizes);
    for (std::size_t i = 0; i < fresh.size(); ++i) editor.replace(readers[i]->outputs[0], fresh[i]);
    return true;
}

Graph softmax_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const ValueId x = s.input({s.extent(1, 3), s.extent(1, 4), s.extent(2, 5)});
    const ValueId y = s.add("Transpose", {x}, {{"perm", s.permutation(3)}});
    return s.finish({s.add(s.coin() ? "Softmax" : "LogSoftmax", {y}, {{"axis", s.extent(-3, 2)}})});
}

Graph concat_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims perm = s.permutation(3);
    const std::int64_t axis = s.extent(0, 2);
    Dims dims = {s.extent(1, 3), s.extent(1, 4), s.extent(1, 5)};
    std::vector<ValueId> parts;
    for (int i = 0; i < 3; ++i) {
        dims[static_cast<std::size_t>(perm[static_cast<std::size_t>(axis)])] = s.extent(1, 4);
        parts.push_back(s.add("Transpose", {s.input(dims)}, {{"perm", perm}}));
    }
    return s.finish({s.add("Concat", parts, {{"axis", s.coin() ? axis : axis - 3}})});
}

Graph split_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims perm = s.permutation(3);
    const Dims sizes = {s.extent(1, 3), s.extent(1, 4)};
    Node split;
    split.op = "Split";
    split.inputs = {s.input({s.extent(1, 3), sizes[0] + sizes[1], s.extent(1, 5)}), s.integers(sizes)};
    split.attributes["axis"] = std::int64_t{1};
    std::vector<ValueId> outputs;
    const std::vector<ValueId> parts = s.graph.node(s.graph.add_node(split, 2)).outputs;
    for (const ValueId part : parts) outputs.push_back(s.add("Transpose", {part}, {{"perm", perm}}));
    return s.finish(outputs);
}

}  // namespace

Rule softmax_before_transpose() {
    return {.name = "softmax_before_transpose",
            .kind = Kind::alternative,
            .source = "ONNX Runtime TransposeOptimizer",
            .equation = "Softmaxₐ(Transpose(x, p)) ⇒ Transpose(Softmaxₚ₍ₐ₎(x), p); LogSoftmax alike",
            .guards = "nothing else reads the transposed x",
            .apply = softmax_first,
            .instance = softmax_instance};
}

Rule concat_before_transpose() {
    return {.name = "concat_before_transpose",
            .kind = Kind::alternative,
            .source = "TASO; ONNX Runtime TransposeOptimizer",
            .equation = "[Transpose(x, p), Transpose(y, p)]ₐ ⇒ Transpose([x, y]ₚ₍ₐ₎, p)",
            .guards = "the same permutation everywhere; nothing else reads the transposes",
            .polynomial = true,
            .apply = concat_first,
            .instance = concat_instance};
}

Rule transpose_before_split() {
    return {.name = "transpose_before_split",
            .kind = Kind::alternative,
            .source = "TASO; ONNX Runtime TransposeOptimizer",
            .equation =
                "Transpose(x₁, p), …, Transpose(xₙ, p) ⇒ Split(Transpose(x, p)), where x₁, …, xₙ = Split(x)",
            .guards = "the same permutation of every part; nothing else reads the parts",
            .polynomial = true,
            .apply = transpose_first,
            .instance = split_instance};
}

}  // namespace viridian::rewrite
