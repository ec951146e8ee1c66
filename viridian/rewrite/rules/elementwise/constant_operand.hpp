#pragma once
// Reads sums, differences, products and quotients of a tensor with a constant.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {

struct ConstantOperand {
    const Node* node;
    ValueId x, c;

    // Returns the operands of `node`, if it is Add, Sub, Mul or Div with a constant c that does not enlarge
    // x. In Sub and Div, c must be the second operand.
    static std::optional<ConstantOperand> of(const Editor& editor, const Node& node);
    // Reads the producer of the x of `outer` likewise, if nothing else reads that x.
    static std::optional<ConstantOperand> before(const Editor& editor,
                                                 const std::optional<ConstantOperand>& outer);

    [[nodiscard]] Role role() const { return role_of(*node); }
};

// Draws the dims of a constant that broadcasts to the two extents `dims`.
Dims constant_operand_dims(RandomGraph& g, const Dims& dims);

}  // namespace viridian::rewrite
