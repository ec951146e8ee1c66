#pragma once
// Computes the sums of rows of A and of products in one level of Strassen's algorithm in Winograd's form (7
// products, 15 sums). The micro-kernel makes the sums of B as it goes.
#include <cstdint>

namespace viridian::execute::cpu::simd {

inline constexpr std::int64_t strassen_products = 7;

// Makes, in this order, A11, A12, S4 = A12 - S2, A22, S1 = A21 + A22, S2 = S1 - A11 and S3 = A11 - A21 of one
// row of A's upper half (`upper`) and one of its lower half (`lower`). The first `count` floats of a row, a
// multiple of 16, belong to A11 or A21, the next `count` to A12 or A22. The i-th result begins at
// `to + i·source`; its blocks of 16 floats begin `block_step` floats apart.
// Returns whether sums of the two rows are safe. They are if every number lies below `strassen_limit` in
// magnitude (NaN does not) and neither row's largest number is more than `strassen_spread` times the other's:
// each row's result gets rounding errors in proportion to the larger row.
[[nodiscard]] bool strassen_rows(const float* upper, const float* lower, std::int64_t count, float* to,
                                 std::int64_t source, std::int64_t block_step);
inline constexpr float strassen_limit = 1125899906842624.0F;  // 2^50
inline constexpr float strassen_spread = 64;

// A StrassenSum computes result = a + b + c + before + bias, then min(max(·, low), high) if `clip` is set.
// All but `a` may be null; a, b, c have rows of `width` floats, a multiple of 16.
struct StrassenSum {
    std::int64_t rows = 0, width = 0;
    const float *a = nullptr, *b = nullptr, *c = nullptr;
    const float* before = nullptr;  // rows as far apart as the result's
    const float* bias = nullptr;    // one number for each column
    float* result = nullptr;
    std::int64_t result_row = 0;  // floats between rows of the result
    bool clip = false;
    float low = 0, high = 0;
};
void strassen_sum(const StrassenSum& sum);

}  // namespace viridian::execute::cpu::simd
