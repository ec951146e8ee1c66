#pragma once
// A convolution with explicit padding, read for rules that merge convolutions.
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

struct Convolution {
    NodeId id = NodeId::none;
    ValueId x, w, bias, y;  // bias may be none
    Dims weights;           // [M, C/group, k…]
    Dims strides, dilations, pads;
    std::int64_t group = 1;

    // A Conv whose weights are fixed and of known extents, without auto_pad.
    static std::optional<Convolution> of(const Editor& editor, NodeId id);

    [[nodiscard]] std::size_t spatial() const { return weights.size() - 2; }
    [[nodiscard]] Dims kernel() const { return {weights.begin() + 2, weights.end()}; }
    // Same kernel extents, strides, dilations and padding.
    [[nodiscard]] bool same_windows(const Convolution& other) const;
    [[nodiscard]] Attributes attributes(std::int64_t groups) const;
    // The bias, or zeros, as a value of dims [M].
    [[nodiscard]] ValueId bias_or_zero(Editor& editor) const;
};

// Equal in every known dimension but `axis`, all of which are known.
[[nodiscard]] bool same_beside(const Editor& editor, ValueId a, ValueId b, std::size_t axis);

}  // namespace viridian::rewrite
