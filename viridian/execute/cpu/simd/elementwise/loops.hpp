#pragma once
// These are vectorised loops over contiguous floats. They are compiled for every instruction set from AVX2
// on; the best one is chosen at run time.
#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"

namespace viridian::execute::cpu::simd {

// Sets x[i] to f(x[i]) for i in [0, n), where f is the unary `step`.
void apply(const EpilogueStep& step, float* x, std::int64_t n);
// Sets x[i] to x[i] ∘ operand[i], or to operand[i] ∘ x[i] if the step is reversed.
void apply(const EpilogueStep& step, float* x, const float* operand, std::int64_t n);
// Does the same from `from` to `to`, so that the first step of a chain needs no copy.
void apply(const EpilogueStep& step, float* to, const float* from, const float* operand, std::int64_t n);

// These normalise one row in place. A NaN in the row makes the row NaN.
void softmax_row(float* x, std::int64_t n);
void log_softmax_row(float* x, std::int64_t n);
// Sets x to (x − mean) / sqrt(variance + epsilon) · scale + shift, element by element; `shift` may be null.
void layer_norm_row(float* x, const float* scale, const float* shift, float epsilon, std::int64_t n);

}  // namespace viridian::execute::cpu::simd
