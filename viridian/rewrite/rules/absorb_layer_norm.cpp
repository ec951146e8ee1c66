#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

// LayerNormalization(x, γ, β) with one output, read once; `operand`, a constant, has the normalised dims
// (leading ones may be written).
struct Found {
    const Node* norm;
    ValueId operand;
    Dims dims;
};

std::optional<Found> find(const Editor& editor, NodeId at, std::string_view op) {
    const Node& node = editor.node(at);
    if (node.op != op || node.inputs.size() != 2) return std::nullopt;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* norm = editor.producer(node.inputs[side], "LayerNormalization");
        const ValueId operand = node.inputs[1 - side];
        if (norm == nullptr || !editor.used_once(node.inputs[side]) || norm->output(1) != ValueId::none ||
            norm->output(2) != ValueId::none || !editor.fixed(operand) || !editor.fixed(norm->inputs[1]))
            continue;
        const auto scale = editor.dims(norm->inputs[1]);
        auto dims = editor.dims(operand);
        if (!scale || !dims || !editor.same_type(node.inputs[side], node.outputs[0])) continue;
        while (dims->size() > scale->size() && dims->front() == 1) dims->erase(dims->begin());
        if (*dims == *scale) return Found{norm, operand, *dims};
    }
    return std::nullopt;
}

bool apply_scale(Editor& editor, NodeId at) {
    const auto found = find(editor, at, "Mul");
    if (!found) return false;
    const ValueId factor = editor.add("Reshape", {found->operand, editor.vector_of(found->dims)});
    std::vector<ValueId> inputs = found->norm->inputs;
    inputs[1] = editor.add("Mul", {inputs[1], factor});
    if (inputs.size() > 2 && inputs[2] != ValueId::none) inputs[2] = editor.add("Mul", {inputs[2], factor});
    editor.replace(editor.node(at).outputs[0],
                   editor.add("LayerNormalization", inputs, found->norm->attributes));
    return true;
}

bool apply_bias(Editor& editor, NodeId at) {
    const auto found = find(editor, at, "Add");
    if (!found) return false;
    ValueId bias = editor.add("Reshape", {found->operand, editor.vector_of(found->dims)});
    std::vector<ValueId> inputs = found->norm->inputs;
    if (inputs.size() > 2 && inputs[2] != ValueId::none) bias = editor.add("Add", {inputs[2], bias});
    inputs.resize(2);
    inputs.push_back(bias);
    editor.replace(editor.node(at).outputs[0],
                   editor.add("LayerNormalization", inputs, found->norm->attributes));
    return true;
}

Graph instance(Random& random, ElementType element, const char* op) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 3), s.extent(2, 4), s.extent(2, 6)};
    const std::int64_t axis = s.coin() ? -1 : -2;
    const Dims normalized(dims.end() + axis, dims.end());
    std::vector<ValueId> inputs = {s.input(dims), s.constant(normalized)};
    if (s.coin()) inputs.push_back(s.constant(normalized));
    const ValueId norm = s.add("LayerNormalization", inputs, {{"axis", axis}, {"epsilon", 0.25}});
    Dims operand = normalized;
    if (s.coin()) operand.insert(operand.begin(), 1);
    return s.finish({s.either_way(op, norm, s.constant(operand))});
}

}  // namespace

Rule absorb_layer_norm_scale() {
    return {
        .name = "absorb_layer_norm_scale",
        .source = "ONNX LayerNormalization-17",
        .equation = "LayerNormalization(x, γ, β)·c ⇒ LayerNormalization(x, γ·c, β·c)",
        .guards = "γ, β and c are constants, c has the normalised dims; nothing else reads the normalisation",
        .polynomial = false,
        .apply = apply_scale,
        .instance = [](Random& random, ElementType element) { return instance(random, element, "Mul"); }};
}

Rule absorb_layer_norm_bias() {
    return {
        .name = "absorb_layer_norm_bias",
        .source = "ONNX LayerNormalization-17",
        .equation = "LayerNormalization(x, γ, β) + c ⇒ LayerNormalization(x, γ, β + c)",
        .guards = "γ, β and c are constants, c has the normalised dims; nothing else reads the normalisation",
        .polynomial = false,
        .apply = apply_bias,
        .instance = [](Random& random, ElementType element) { return instance(random, element, "Add"); }};
}

}  // namespace viridian::rewrite
