#include "viridian/execute/cpu/simd/convolution/window.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/convolution/window.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

struct Greatest {
    V value;
    M nan;
    HWY_INLINE explicit Greatest(V x) : value(x), nan(hn::IsNaN(x)) {}
    HWY_INLINE void take(V x) {
        nan = hn::Or(nan, hn::IsNaN(x));
        value = hn::Max(value, x);
    }
    HWY_INLINE V result(float /*share*/) const { return hn::IfThenElse(nan, hn::NaN(D()), value); }
};

struct Mean {
    V value;
    HWY_INLINE explicit Mean(V x) : value(x) {}
    HWY_INLINE void take(V x) { value = hn::Add(value, x); }
    HWY_INLINE V result(float share) const { return hn::Mul(value, hn::Set(D(), share)); }
};

// The cells of one window.
struct Cells {
    const float* first;
    std::int64_t rows, row, columns, column;  // how many, and floats between them
};

template <class Value, class Load>
HWY_INLINE Value over(const Cells& cells, const Load& load) {
    Value value(load(cells.first));
    for (std::int64_t t = 1; t < cells.columns; ++t) value.take(load(cells.first + t * cells.column));
    for (std::int64_t r = 1; r < cells.rows; ++r)
        for (std::int64_t t = 0; t < cells.columns; ++t)
            value.take(load(cells.first + r * cells.row + t * cells.column));
    return value;
}

// Columns, Channels 0: as many as the cells say, as it is told.
template <class Value, int Columns, std::int64_t Channels>
void pixel(Cells cells, std::int64_t channels, float share, float* to) {
    const D d;
    if constexpr (Columns > 0) cells.columns = Columns;
    if constexpr (Channels > 0) channels = Channels;
    std::int64_t c = 0;
    for (; c + lanes <= channels; c += lanes) {
        const auto load = [&](const float* at) HWY_ATTR { return hn::LoadU(d, at + c); };
        hn::StoreU(over<Value>(cells, load).result(share), d, to + c);
    }
    if (c == channels) return;
    const M there = hn::FirstN(d, static_cast<std::size_t>(channels - c));
    const auto load = [&](const float* at) HWY_ATTR { return hn::MaskedLoad(there, d, at + c); };
    hn::BlendedStore(over<Value>(cells, load).result(share), there, d, to + c);
}

template <class Value, std::int64_t Channels>
void row_of(const WindowRow& s) {
    for (std::int64_t p = 0; p < s.pixels; ++p) {
        const std::int64_t begin = p * s.stride - s.pad;
        std::int64_t t = 0, end = s.columns;
        if (begin < 0) t = (s.dilation - 1 - begin) / s.dilation;
        if (begin + (s.columns - 1) * s.dilation >= s.width)
            end = (s.width - begin + s.dilation - 1) / s.dilation;
        const Cells cells{s.source + (begin + t * s.dilation) * s.pixel, s.rows, s.source_row, end - t,
                          s.dilation * s.pixel};
        const std::int64_t counted = s.divisor > 0 ? s.divisor : cells.columns * s.rows;
        const float share = 1.0F / static_cast<float>(counted);
        float* to = s.result + p * s.pixel;
        if (cells.columns == 3)
            pixel<Value, 3, Channels>(cells, s.channels, share, to);
        else if (cells.columns == 2)
            pixel<Value, 2, Channels>(cells, s.channels, share, to);
        else
            pixel<Value, 0, Channels>(cells, s.channels, share, to);
    }
}

template <class Value>
void row_of(const WindowRow& s) {
    s.channels == 16 ? row_of<Value, 16>(s) : row_of<Value, 0>(s);
}

void window_row(const WindowRow& s) { s.maximum ? row_of<Greatest>(s) : row_of<Mean>(s); }

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(window_row);

void run(const WindowRow& row) { HWY_DYNAMIC_DISPATCH(window_row)(row); }

}  // namespace viridian::execute::cpu::simd
#endif
