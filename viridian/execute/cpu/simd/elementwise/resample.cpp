#include "viridian/execute/cpu/simd/elementwise/resample.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/elementwise/resample.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

void rows(float* to, const float* plane, const std::int64_t* cells, const float* weights, std::int64_t taps,
          std::int64_t n) {
    const D d;
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        auto sum = hn::Mul(hn::Set(d, weights[0]), hn::LoadU(d, plane + cells[0] * n + i));
        for (std::int64_t k = 1; k < taps; ++k)
            sum = hn::MulAdd(hn::Set(d, weights[k]), hn::LoadU(d, plane + cells[k] * n + i), sum);
        hn::StoreU(sum, d, to + i);
    }
    for (; i < n; ++i) {
        float sum = weights[0] * plane[cells[0] * n + i];
        for (std::int64_t k = 1; k < taps; ++k) sum += weights[k] * plane[cells[k] * n + i];
        to[i] = sum;
    }
}

void elements(float* to, const float* row, const std::int32_t* cells, const float* weights, std::int64_t taps,
              std::int64_t n) {
    const D d;
    const hn::RebindToSigned<D> whole;
    std::int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
        auto sum = hn::Mul(hn::LoadU(d, weights + j), hn::GatherIndex(d, row, hn::LoadU(whole, cells + j)));
        for (std::int64_t at = n + j; at < taps * n; at += n)
            sum = hn::MulAdd(hn::LoadU(d, weights + at),
                             hn::GatherIndex(d, row, hn::LoadU(whole, cells + at)), sum);
        hn::StoreU(sum, d, to + j);
    }
    for (; j < n; ++j) {
        float sum = weights[j] * row[cells[j]];
        for (std::int64_t at = n + j; at < taps * n; at += n) sum += weights[at] * row[cells[at]];
        to[j] = sum;
    }
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(rows);
HWY_EXPORT(elements);

void blend_rows(float* to, const float* plane, const std::int64_t* cells, const float* weights,
                std::int64_t taps, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(rows)(to, plane, cells, weights, taps, n);
}
void blend_elements(float* to, const float* row, const std::int32_t* cells, const float* weights,
                    std::int64_t taps, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(elements)(to, row, cells, weights, taps, n);
}

}  // namespace viridian::execute::cpu::simd
#endif
