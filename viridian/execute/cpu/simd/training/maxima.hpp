#pragma once
// Finds the maxima of the windows of one row of a pool, and where they are.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// A MaximaRow is `count` windows whose taps all lie in the image. Window x has the elements
// first[taps[t] + x·stride] for each of at least one tap t.
struct MaximaRow {
    const float* first = nullptr;
    const std::int32_t* taps = nullptr;
    std::int64_t tap_count = 0, stride = 1, count = 0;
};

// Sets most[x] to the largest element of window x and place[x] to taps[t] + x·stride of the first tap that
// has it. If elements are NaN, the last of these is taken.
void window_maxima(const MaximaRow& windows, float* most, std::int32_t* place);

}  // namespace viridian::execute::cpu::simd
