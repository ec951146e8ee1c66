#pragma once
// Draws the masks of DropoutMask with vectors of Philox's counters.
#include <cstdint>

#include "viridian/base/random/philox.hpp"

namespace viridian::execute::cpu::simd {

// Writes elements [4·first, 4·first + n) of the mask of one sample to `keep`: 1 where the word is at least
// `least`, which is at most 2^32, and 0 elsewhere. Word 0 of the counter is the number of the group of four
// elements, and words 1 to 3 are those of `counter`.
void draw_words(const PhiloxKey& key, const PhiloxCounter& counter, std::uint64_t least, std::uint32_t first,
                std::int64_t n, std::uint8_t* keep);

}  // namespace viridian::execute::cpu::simd
