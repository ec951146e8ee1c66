#pragma once
// Loops of gradients of normalisations and of softmax over contiguous floats. Sums along a row are kept in
// f32 over short pieces and in double over all of them, in an order that depends on `n` alone.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// An UpstreamGradient is a gradient a[i]: g[i]·scale[i] if `scale` is set; g[i] if rectified[i] > 0, else 0,
// if `rectified` is set; otherwise g[i]. At most one of the two is set.
struct UpstreamGradient {
    const float* g = nullptr;
    const float* scale = nullptr;
    const float* rectified = nullptr;
};

// Σ a[i] and Σ a[i]·(x[i] − centre).
struct GradientSums {
    double plain = 0, along = 0;
};
[[nodiscard]] GradientSums gradient_sums(const UpstreamGradient& a, const float* x, float centre,
                                         std::int64_t n);

// Sets to[i] to factor·(a[i] − mean − slope·(x[i] − centre)).
struct Centred {
    float factor, mean, slope, centre;
};
void centred_gradient(float* to, const UpstreamGradient& a, const float* x, const Centred& c, std::int64_t n);

// Adds g[i]·(x[i] − centre)·factor to along[i], and g[i] to plain[i], in f32 and so for few rows only.
// `along` and `plain` overlap nothing.
void add_columns(float* along, float* plain, const float* g, const float* x, float centre, float factor,
                 std::int64_t n);

// Sets to[i] to y[i]·(g[i] − Σ g·y): the gradient of a softmax whose result is y.
void softmax_gradient(float* to, const float* g, const float* y, std::int64_t n);

// A mean that f32 cannot hold: a number close to it, and the rest. If all x are equal, the rest alone, times
// a factor of 1/√ε, is what x − centre leaves.
struct Mean {
    float centre = 0, rest = 0;
};
// Sets to[i] to (x[i] − mean)·factor·scale[i] + shift[i]; `shift` may be null.
void scaled_row(float* to, const float* x, Mean mean, float factor, const float* scale, const float* shift,
                std::int64_t n);

}  // namespace viridian::execute::cpu::simd
