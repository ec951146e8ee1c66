// Takes a constant factor into a layer normalisation before it: LayerNormalization(x, γ, β)·c ⇒
// LayerNormalization(x, γ·c, β·c). It follows from the definition in ONNX LayerNormalization-17.
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/affine/layer_norm_operand.hpp"

namespace viridian::rewrite {
namespace {

bool apply_absorb_layer_norm_scale(Editor& editor, NodeId at) {
    const auto found = LayerNormOperand::of(editor, at, op::Mul);
    if (!found) return false;
    const ValueId factor = editor.add(op::Reshape, {found->operand, editor.vector_of(found->dims)});
    std::vector<ValueId> inputs = found->norm->inputs;
    inputs[1] = editor.add(op::Mul, {inputs[1], factor});
    if (inputs.size() > 2 && inputs[2] != ValueId::none) inputs[2] = editor.add(op::Mul, {inputs[2], factor});
    editor.replace(editor.node(at).outputs[0],
                   editor.add(op::LayerNormalization, inputs, found->norm->attributes));
    return true;
}

}  // namespace

Rule absorb_layer_norm_scale() {
    return {
        .name = "absorb_layer_norm_scale",
        .source = "ONNX LayerNormalization-17",
        .equation = "LayerNormalization(x, γ, β)·c ⇒ LayerNormalization(x, γ·c, β·c)",
        .guards = "γ, β and c are constants, c has the normalised dims; nothing else reads the normalisation",
        .apply = apply_absorb_layer_norm_scale,
        .instance = [](Random& random, ElementType element) {
            return layer_norm_operand_instance(random, element, op::Mul);
        }};
}

}  // namespace viridian::rewrite
