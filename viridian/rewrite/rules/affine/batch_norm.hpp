#pragma once
// Reads a BatchNormalization with constant statistics as a scale and a shift of every channel.
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

struct ChannelAffine {
    ValueId scale, shift;  // both of dims [channels]
};

// Returns whether `norm` is a BatchNormalization in inference mode with constant statistics.
[[nodiscard]] bool has_constant_statistics(const Editor& editor, const Node& norm);

// Returns the scale γ/√(σ²+ε) and the shift β − μ·scale of `norm`, as expressions over its constants.
[[nodiscard]] ChannelAffine channel_affine(Editor& editor, const Node& norm);

}  // namespace viridian::rewrite
