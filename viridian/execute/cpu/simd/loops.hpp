#pragma once
// Vectorised loops over contiguous floats, compiled for every instruction set from AVX2 on and chosen at run
// time.
#include "viridian/execute/cpu/epilogue.hpp"

namespace viridian::execute::cpu::simd {

// x[i] = f(x[i]) for i in [0, n).
void apply(const Step& step, float* x, std::int64_t n);
// x[i] = x[i] ∘ operand[i], or the other way round where the step says so.
void apply(const Step& step, float* x, const float* operand, std::int64_t n);
// to[i] = from[i] and then as above: the first step of a chain needs no copy.
void apply(const Step& step, float* to, const float* from, const float* operand, std::int64_t n);

// Rows along which something is normalised, in place. NaN in, NaN out.
void softmax_row(float* x, std::int64_t n);
void log_softmax_row(float* x, std::int64_t n);
// (x − mean) / sqrt(variance + epsilon) · scale + shift; shift may be null.
void layer_norm_row(float* x, const float* scale, const float* shift, float epsilon, std::int64_t n);

}  // namespace viridian::execute::cpu::simd
