#pragma once
// Scales and shifts of an operator's output channels, moved into its weights as expressions over constants;
// constant folding makes them constants.
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// A Conv, ConvTranspose, Gemm or MatMul whose weights are fixed and whose output nothing else reads.
struct Linear {
    const Node* node = nullptr;
    std::int64_t channels = 0;  // of the output
    std::int64_t axis = 1;      // the output's channel axis
    std::int64_t rank = 0;      // of the output

    static std::optional<Linear> of(const Editor& editor, ValueId output);

    // `value`, a constant that broadcasts against the output, as one number per channel: an expression of
    // dims [channels], or none where it varies along another axis or adds dimensions.
    [[nodiscard]] ValueId per_channel(Editor& editor, ValueId value) const;
    [[nodiscard]] bool is_per_channel(const Editor& editor, ValueId value) const;

    // The same operator with its output channel c scaled by scale[c] and shifted by shift[c] (either may be
    // none), both of dims [channels].
    [[nodiscard]] ValueId affine(Editor& editor, ValueId scale, ValueId shift) const;
    // Weights and bias stay finite and normal numbers under it (moderate.hpp).
    [[nodiscard]] bool takes_factor(const Editor& editor, ValueId factor, bool divides) const;
    // MatMul has no bias, so it cannot take a shift.
    [[nodiscard]] bool takes_shift() const { return node->op != "MatMul"; }
};

}  // namespace viridian::rewrite
