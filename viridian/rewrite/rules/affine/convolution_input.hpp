#pragma once
// Finds the constant that scales or shifts the input of a convolution.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/convolution.hpp"

namespace viridian::rewrite {

struct ConvolutionInput {
    ValueId x, operand;  // the convolution reads x·operand or x + operand

    // Returns the operands of the node `op` (Mul or Add) before `conv`, if nothing else reads its result, the
    // convolution has no groups and the constant operand is one number or one per input channel.
    static std::optional<ConvolutionInput> of(const Editor& editor, const Convolution& conv,
                                              graph::KnownOperator op);

    // Returns the operand with dims [1, C, 1, …], so that it broadcasts against the weights of `conv`.
    [[nodiscard]] ValueId along_weights(Editor& editor, const Convolution& conv) const;
};

// Makes a random convolution, padded or not, behind the node `op` with a constant.
Graph convolution_input_instance(Random& random, ElementType element, const graph::Operator& op, bool padded);

}  // namespace viridian::rewrite
