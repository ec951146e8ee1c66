#include "viridian/rewrite/rules/affine/batch_norm.hpp"

namespace viridian::rewrite {

bool has_constant_statistics(const Editor& editor, const Node& norm) {
    if (norm.op != op::BatchNormalization || norm.inputs.size() < 5 || norm.integer("training_mode", 0) != 0)
        return false;
    for (std::size_t i = 1; i < norm.outputs.size(); ++i)
        if (norm.outputs[i] != ValueId::none) return false;
    for (std::size_t i = 1; i < 5; ++i)
        if (!editor.fixed(norm.inputs[i]) || !editor.dims(norm.inputs[i]) ||
            editor.element(norm.inputs[i]) != editor.element(norm.inputs[0]))
            return false;
    return true;
}

ChannelAffine channel_affine(Editor& editor, const Node& norm) {
    const ValueId epsilon = editor.scalar_like(norm.inputs[4], norm.get("epsilon", 1e-5));
    const ValueId deviation = editor.add(op::Sqrt, {editor.add(op::Add, {norm.inputs[4], epsilon})});
    const ValueId scale = editor.add(op::Div, {norm.inputs[1], deviation});
    const ValueId shift = editor.add(op::Sub, {norm.inputs[2], editor.add(op::Mul, {norm.inputs[3], scale})});
    return {scale, shift};
}

}  // namespace viridian::rewrite
