#pragma once
// Reads operators that are linear in constant weights, into which rules fold scales and shifts of the output
// channels. The new weights are expressions over constants; fold_constants computes them.
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {

// A Linear is a floating-point Conv, ConvTranspose, Gemm or MatMul whose weights are fixed and whose output
// is read once.
struct Linear {
    const Node* node = nullptr;
    std::int64_t channels = 0;  // of the output
    std::int64_t axis = 1;      // the output's channel axis
    std::int64_t rank = 0;      // of the output

    // Reads the node that defines `output`; none if it is no such operator.
    static std::optional<Linear> of(const Editor& editor, ValueId output);

    // Returns `value`, a constant that broadcasts against the output, as one number for each channel: an
    // expression of dims [channels]. Returns none if it varies along another axis or adds dimensions.
    [[nodiscard]] ValueId per_channel(Editor& editor, ValueId value) const;
    // Returns whether per_channel() would return a value.
    [[nodiscard]] bool is_per_channel(const Editor& editor, ValueId value) const;

    // Adds the same operator with output channel c scaled by scale[c] and shifted by shift[c]. Both have dims
    // [channels]; either may be none.
    [[nodiscard]] ValueId affine(Editor& editor, ValueId scale, ValueId shift) const;
    // Returns whether weights and bias stay finite, and normal numbers normal, under a `factor` of this role.
    [[nodiscard]] bool takes_factor(const Editor& editor, ValueId factor, Role role) const;
    // Returns whether the operator has a place for a bias, so that it can take a shift. All but MatMul have.
    [[nodiscard]] bool takes_shift() const { return node->op != op::MatMul; }
};

}  // namespace viridian::rewrite
