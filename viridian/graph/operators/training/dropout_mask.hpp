#pragma once
// DropoutMask, a private operator of the domain `viridian`, draws the mask of a dropout in training: true for
// the elements that stay. The mask follows from its inputs and its attribute `stream` alone, so that it does
// not depend on layouts, threads or batches, and the backward pass may draw it again. Inputs:
//
//     seed, step, first_sample   i64 scalars: the seed of a training run, the number of the step, and the
//                                number of the first sample of the batch within the step
//     ratio                      f32 or f64 scalar: the probability of an element to be dropped
//     shape                      i64 vector: the dimensions of the mask; axis 0 counts samples
//
// Element e of sample s is kept if its word is at least ratio · 2^32. The word is number e mod 4 of
// Philox4x32-10 with
//
//     key     = (low half of seed, stream)
//     counter = (e div 4, first_sample + s, step, high half of seed)
//
// where all words have 32 bits and larger numbers are taken modulo 2^32. `e` counts the elements of one
// sample in row-major order. A mask of rank 0 is one sample of one element.
#include <algorithm>
#include <array>
#include <span>

#include "viridian/base/random/philox.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::graph {

namespace op {
inline constexpr KnownOperator DropoutMask{"DropoutMask", "viridian"};
}

// The numbers from which a mask follows.
struct MaskNumbers {
    std::int64_t seed = 0;
    std::int64_t stream = 0;
    std::int64_t step = 0;
    std::int64_t first_sample = 0;
};

// Returns the least word that is kept: ratio · 2^32, rounded up. `ratio` is taken into [0, 1].
[[nodiscard]] std::uint64_t least_kept_word(double ratio);

// Writes the mask of `samples` samples of `elements` elements to `keep`, 1 for an element that stays and 0
// for one that is dropped.
template <class T>
void draw_mask(const MaskNumbers& numbers, double ratio, std::int64_t samples, std::int64_t elements,
               std::span<T> keep) {
    const auto low = [](std::int64_t number) { return static_cast<std::uint32_t>(number); };
    const auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(numbers.seed) >> 32U);
    const std::array<std::uint32_t, 2> key = {low(numbers.seed), low(numbers.stream)};
    const std::uint64_t least = least_kept_word(ratio);
    std::size_t at = 0;
    for (std::int64_t s = 0; s < samples; ++s) {
        const std::uint32_t sample = low(numbers.first_sample) + low(s);
        for (std::int64_t e = 0; e < elements; e += 4) {
            const auto words = philox4x32({low(e / 4), sample, low(numbers.step), high}, key);
            const auto count = static_cast<std::size_t>(std::min<std::int64_t>(4, elements - e));
            for (std::size_t i = 0; i < count; ++i) keep[at++] = static_cast<T>(words[i] >= least ? 1 : 0);
        }
    }
}

// Returns what the DropoutMask `node` means in standard operators of set 18: a graph of five inputs with the
// types `inputs` and one output. It computes with 64-bit integers whose products stay below 2^49, so that any
// runtime gives the same mask.
[[nodiscard]] std::shared_ptr<const Graph> meaning_of_dropout_mask(const Node& node,
                                                                   std::span<const TensorType> inputs);

}  // namespace viridian::graph
