#include "viridian/execute/cpu/simd/training/gradients.hpp"

#include <algorithm>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/training/gradients.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

// Independent lanes, which the compiler keeps in vector registers.
constexpr std::int64_t sum_lanes = 32;
constexpr std::int64_t sum_piece = 4096;

template <class Term>
HWY_INLINE GradientSums sums_of(std::int64_t n, const Term& term) {
    GradientSums total;
    for (std::int64_t at = 0; at < n; at += sum_piece) {
        const std::int64_t end = std::min(n, at + sum_piece);
        float plain[sum_lanes] = {}, along[sum_lanes] = {};
        std::int64_t i = at;
        for (; i + sum_lanes <= end; i += sum_lanes)
            for (std::int64_t l = 0; l < sum_lanes; ++l) term(i + l, plain[l], along[l]);
        for (std::int64_t l = 0; i < end; ++i, ++l) term(i, plain[l], along[l]);
        for (const float lane : plain) total.plain += static_cast<double>(lane);
        for (const float lane : along) total.along += static_cast<double>(lane);
    }
    return total;
}

// Calls f with a function that returns a[i].
template <class Function>
HWY_INLINE auto with_upstream(const UpstreamGradient& a, const Function& f) {
    const float *const g = a.g, *const scale = a.scale, *const rectified = a.rectified;
    if (scale != nullptr) return f([=](std::int64_t i) HWY_ATTR { return g[i] * scale[i]; });
    if (rectified != nullptr)
        return f([=](std::int64_t i) HWY_ATTR {
            const float upstream = g[i];  // read in any case, so that the compiler need not branch
            return rectified[i] > 0 ? upstream : 0.0F;
        });
    return f([=](std::int64_t i) HWY_ATTR { return g[i]; });
}

GradientSums gradient_sums_of(const UpstreamGradient& a, const float* x, float centre, std::int64_t n) {
    return with_upstream(a, [=](const auto& upstream) HWY_ATTR {
        return sums_of(n, [=](std::int64_t i, float& plain, float& along) HWY_ATTR {
            const float gradient = upstream(i);
            plain += gradient;
            along += gradient * (x[i] - centre);
        });
    });
}

void centred_gradient_of(float* to, const UpstreamGradient& a, const float* x, const Centred& c,
                         std::int64_t n) {
    const float factor = c.factor, mean = c.mean, slope = c.slope, centre = c.centre;
    with_upstream(a, [=](const auto& upstream) HWY_ATTR {
        for (std::int64_t i = 0; i < n; ++i) to[i] = factor * (upstream(i) - mean - slope * (x[i] - centre));
    });
}

void add_columns_of(float* HWY_RESTRICT along, float* HWY_RESTRICT plain, const float* HWY_RESTRICT g,
                    const float* HWY_RESTRICT x, float centre, float factor, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        along[i] += g[i] * ((x[i] - centre) * factor);
        plain[i] += g[i];
    }
}

void softmax_gradient_of(float* to, const float* g, const float* y, std::int64_t n) {
    const GradientSums sums =
        sums_of(n, [=](std::int64_t i, float&, float& along) HWY_ATTR { along += g[i] * y[i]; });
    const auto total = static_cast<float>(sums.along);
    for (std::int64_t i = 0; i < n; ++i) to[i] = y[i] * (g[i] - total);
}

void scaled_row_of(float* to, const float* x, Mean mean, float factor, const float* scale, const float* shift,
                   std::int64_t n) {
    if (shift == nullptr)
        for (std::int64_t i = 0; i < n; ++i) to[i] = (x[i] - mean.centre - mean.rest) * factor * scale[i];
    else
        for (std::int64_t i = 0; i < n; ++i)
            to[i] = (x[i] - mean.centre - mean.rest) * factor * scale[i] + shift[i];
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(gradient_sums_of);
HWY_EXPORT(centred_gradient_of);
HWY_EXPORT(add_columns_of);
HWY_EXPORT(softmax_gradient_of);
HWY_EXPORT(scaled_row_of);

GradientSums gradient_sums(const UpstreamGradient& a, const float* x, float centre, std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(gradient_sums_of)(a, x, centre, n);
}
void centred_gradient(float* to, const UpstreamGradient& a, const float* x, const Centred& c,
                      std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(centred_gradient_of)(to, a, x, c, n);
}
void add_columns(float* along, float* plain, const float* g, const float* x, float centre, float factor,
                 std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(add_columns_of)(along, plain, g, x, centre, factor, n);
}
void softmax_gradient(float* to, const float* g, const float* y, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(softmax_gradient_of)(to, g, y, n);
}
void scaled_row(float* to, const float* x, Mean mean, float factor, const float* scale, const float* shift,
                std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(scaled_row_of)(to, x, mean, factor, scale, shift, n);
}

}  // namespace viridian::execute::cpu::simd
#endif
