#pragma once
// A Convolution reads a convolution with explicit padding and fixed weights, for rules.
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

struct Convolution {
    NodeId id = NodeId::none;
    ValueId x, w, bias, y;  // bias may be none
    Dims weights;           // [M, C/group, k…]
    Dims strides, dilations, pads;
    std::int64_t group = 1;

    // Reads the node `id`, if it is a Conv without auto_pad whose weights are fixed and have known
    // extents above 0.
    static std::optional<Convolution> of(const Editor& editor, NodeId id);
    // Reads the node that defines `y`, if nothing else reads `y`.
    static std::optional<Convolution> read_once(const Editor& editor, ValueId y);

    [[nodiscard]] std::size_t spatial() const { return weights.size() - 2; }
    [[nodiscard]] Dims kernel() const { return {weights.begin() + 2, weights.end()}; }
    // Returns whether kernel extents, strides, dilations and padding are equal.
    [[nodiscard]] bool same_windows(const Convolution& other) const;
    [[nodiscard]] bool is_padded() const;
    // Returns whether it is 1×1 with stride 1, and without padding and groups.
    [[nodiscard]] bool is_pointwise() const;
    // Returns the attributes of a Conv with these windows and `groups` groups.
    [[nodiscard]] Attributes attributes(std::int64_t groups) const;
    // Returns the bias, or zeros, as a value of dims [M].
    [[nodiscard]] ValueId bias_or_zero(Editor& editor) const;
};

// Appends the sum of the biases of `a` and `b` to `inputs`, or the only bias; nothing if neither has one.
void append_bias_sum(Editor& editor, const Convolution& a, const Convolution& b,
                     std::vector<ValueId>& inputs);

}  // namespace viridian::rewrite
