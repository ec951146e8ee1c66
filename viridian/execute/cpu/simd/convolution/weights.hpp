#pragma once
// Packs weights and biases in the order in which the micro-kernels read them.
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu::simd {

// Groups divide the output channels into groups of `columns` blocks of 16; the last group may be smaller.
struct Groups {
    std::int64_t channels = 0;  // output channels
    int columns = 1;
    [[nodiscard]] std::int64_t blocks() const { return (channels + 15) / 16; }
    // Returns the number of groups.
    [[nodiscard]] std::int64_t count() const { return (blocks() + columns - 1) / columns; }
    [[nodiscard]] int width(std::int64_t group) const {  // blocks of this group
        return static_cast<int>(std::min<std::int64_t>(columns, blocks() - group * columns));
    }
    // Returns the floats before this group if each block takes `per_block`.
    [[nodiscard]] std::int64_t offset(std::int64_t group, std::int64_t per_block) const {
        return group * columns * per_block;
    }
};

// Returns the constant `id` packed as [group][tap][channel][columns·16]; channels that do not exist are
// zeroes. `weight(output channel, channel, tap)` gives a weight, and `how` names that function in the key
// of the packed constant.
[[nodiscard]] Packed pack_weights(
    const Task& task, graph::ValueId id, const Groups& groups, std::int64_t taps, std::int64_t channels,
    const std::string& how, const std::function<float(std::int64_t, std::int64_t, std::int64_t)>& weight);
// Does the same in bf16, rounded to nearest even, two channels side by side:
// [group][tap][pair][columns·16][2].
[[nodiscard]] Packed pack_bf16_weights(
    const Task& task, graph::ValueId id, const Groups& groups, std::int64_t taps, std::int64_t channels,
    const std::string& how, const std::function<float(std::int64_t, std::int64_t, std::int64_t)>& weight);
// Returns the bias `id` padded with zeroes to whole blocks.
[[nodiscard]] Packed pack_bias(const Task& task, graph::ValueId id, const Groups& groups);

}  // namespace viridian::execute::cpu::simd
