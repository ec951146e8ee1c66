#pragma once
// These are vectorised loops over contiguous floats. They are compiled for every instruction set from AVX2
// on; the best one is chosen at run time.
#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"

namespace viridian::execute::cpu::simd {

// Sets to[i] to f(from[i]) for i in [0, n). If the step is binary, sets it to from[i] ∘ operand[i], or to
// operand[i] ∘ from[i] if the step is reversed. `to` may be `from` or `operand`.
void apply(const EpilogueStep& step, float* to, const float* from, const float* operand, std::int64_t n);
// Does the same for a binary step alone.
void apply_operand(const EpilogueStep& step, float* to, const float* from, const float* operand,
                   std::int64_t n);
// Does the same for a binary step whose operand is one number.
void apply_number(const EpilogueStep& step, float* to, const float* from, float number, std::int64_t n);
// Sets to[i] to a·x[i] + b·z[i], each product rounded by itself, as by two steps. `to` may be `x` or `z`.
void combine(float* to, float a, const float* x, float b, const float* z, std::int64_t n);

// These normalise one row. A NaN in the row makes the result NaN. `to` may be `x`.
void softmax_row(float* to, const float* x, std::int64_t n);
void log_softmax_row(float* to, const float* x, std::int64_t n);

}  // namespace viridian::execute::cpu::simd
