// Takes a constant term into a layer normalisation before it: LayerNormalization(x, γ, β) + c ⇒
// LayerNormalization(x, γ, β + c). It follows from the definition in ONNX LayerNormalization-17.
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/affine/layer_norm_operand.hpp"

namespace viridian::rewrite {
namespace {

bool apply_absorb_layer_norm_bias(Editor& editor, NodeId at) {
    const auto found = LayerNormOperand::of(editor, at, op::Add);
    if (!found) return false;
    ValueId bias = editor.add(op::Reshape, {found->operand, editor.vector_of(found->dims)});
    std::vector<ValueId> inputs = found->norm->inputs;
    if (inputs.size() > 2 && inputs[2] != ValueId::none) bias = editor.add(op::Add, {inputs[2], bias});
    inputs.resize(2);
    inputs.push_back(bias);
    editor.replace(editor.node(at).outputs[0],
                   editor.add(op::LayerNormalization, inputs, found->norm->attributes));
    return true;
}

}  // namespace

Rule absorb_layer_norm_bias() {
    return {
        .name = "absorb_layer_norm_bias",
        .source = "ONNX LayerNormalization-17",
        .equation = "LayerNormalization(x, γ, β) + c ⇒ LayerNormalization(x, γ, β + c)",
        .guards = "γ, β and c are constants, c has the normalised dims; nothing else reads the normalisation",
        .apply = apply_absorb_layer_norm_bias,
        .instance = [](Random& random, ElementType element) {
            return layer_norm_operand_instance(random, element, op::Add);
        }};
}

}  // namespace viridian::rewrite
