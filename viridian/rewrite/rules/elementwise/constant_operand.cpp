#include "viridian/rewrite/rules/elementwise/constant_operand.hpp"

#include "viridian/rewrite/movement.hpp"

namespace viridian::rewrite {

std::optional<ConstantOperand> ConstantOperand::of(const Editor& editor, const Node& node) {
    if (!is_arithmetic(node)) return std::nullopt;
    for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
        const bool turned = side == 0 && (node.op == op::Sub || node.op == op::Div);
        if (!turned && editor.fixed(node.inputs[side]) && !editor.fixed(node.inputs[1 - side]) &&
            editor.same_type(node.inputs[1 - side], node.outputs[0]))
            return ConstantOperand{&node, node.inputs[1 - side], node.inputs[side]};
    }
    return std::nullopt;
}

std::optional<ConstantOperand> ConstantOperand::before(const Editor& editor,
                                                       const std::optional<ConstantOperand>& outer) {
    const Node* node = outer && editor.used_once(outer->x) ? editor.graph().producer(outer->x) : nullptr;
    return node != nullptr ? of(editor, *node) : std::nullopt;
}

Dims constant_operand_dims(RandomGraph& g, const Dims& dims) {
    return g.extent(0, 2) == 0 ? Dims{} : g.coin() ? Dims{dims[1]} : dims;
}

}  // namespace viridian::rewrite
