#include "viridian/execute/cpu/simd/bf16/pool.hpp"

#include <algorithm>

#include "viridian/execute/cpu/simd/bf16/lanes.hpp"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace viridian::execute::cpu::simd {
namespace {

constexpr std::int64_t lanes = bf16_lanes;

// Numbers as integers of the same order, every NaN above infinity: negative ones are mirrored, and what is
// then below -infinity wraps to the top.
struct Greatest {
    static constexpr std::int64_t bytes = 64;
    static constexpr std::int64_t cached = 24 * 1024;  // of what waits: it stays in the first cache
    __m512i key;

    HWY_INLINE static Greatest of(__m512i x) {
        const __mmask32 negative = _mm512_test_epi16_mask(x, _mm512_set1_epi16(-0x8000));
        const __m512i key = _mm512_sub_epi16(x, _mm512_set1_epi16(0x7f));
        return {_mm512_mask_sub_epi16(key, negative, _mm512_set1_epi16(0x7f80), x)};
    }
    HWY_INLINE static Greatest load(const std::byte* at) { return {_mm512_load_si512(at)}; }
    HWY_INLINE void store(std::byte* to) const { _mm512_store_si512(to, key); }
    HWY_INLINE void take(const Greatest& other) { key = _mm512_max_epi16(key, other.key); }
    HWY_INLINE __m512i result(float /*share*/) const {
        const __m512i x = _mm512_add_epi16(key, _mm512_set1_epi16(0x7f));
        return _mm512_mask_sub_epi16(x, _mm512_movepi16_mask(x), _mm512_set1_epi16(0x7fff), x);
    }
};

// Sums in f32 of even and of odd channels.
struct Mean {
    static constexpr std::int64_t bytes = 128;
    static constexpr std::int64_t cached = 16 * 1024;
    __m512 even, odd;

    HWY_INLINE static Mean of(__m512i x) { return {even_lanes(x), odd_lanes(x)}; }
    HWY_INLINE static Mean load(const std::byte* at) { return {_mm512_load_ps(at), _mm512_load_ps(at + 64)}; }
    HWY_INLINE void store(std::byte* to) const {
        _mm512_store_ps(to, even);
        _mm512_store_ps(to + 64, odd);
    }
    HWY_INLINE void take(const Mean& other) {
        even = _mm512_add_ps(even, other.even);
        odd = _mm512_add_ps(odd, other.odd);
    }
    HWY_INLINE __m512i result(float share) const {
        const __m512 s = _mm512_set1_ps(share);
        return bf16_pairs(_mm512_mul_ps(even, s), _mm512_mul_ps(odd, s));
    }
};

// f(c, which are there) for every 32 channels of n.
template <class Function>
HWY_INLINE void each(std::int64_t n, const Function& f) {
    std::int64_t c = 0;
    for (; c + lanes <= n; c += lanes) f(c, first_lanes(lanes));
    if (c < n) f(c, first_lanes(n - c));
}

// Channels [first, first + n) of the columns' greatest or sums, all pixels. Rows 0: as many as the row says.
template <class Value, int Rows>
void down(const PoolRow& s, std::int64_t first, std::int64_t n) {
    const std::int64_t rows = Rows > 0 ? Rows : s.rows;
    std::byte* to = s.waiting;
    for (std::int64_t x = 0; x < s.width; ++x) {
        const std::uint16_t* from = s.source + x * s.channels + first;
        each(n, [&](std::int64_t c, __mmask32 there) {
            Value value = Value::of(_mm512_maskz_loadu_epi16(there, from + c));
            for (std::int64_t r = 1; r < rows; ++r)
                value.take(Value::of(_mm512_maskz_loadu_epi16(there, from + r * s.source_row + c)));
            value.store(to);
            to += Value::bytes;
        });
    }
}

// One pixel of results. Taps 0: as many as it is told.
template <class Value, int Taps>
HWY_INLINE void across(const std::byte* from, std::int64_t taps, std::int64_t step, float share,
                       std::uint16_t* to, std::int64_t n) {
    if constexpr (Taps > 0) taps = Taps;
    each(n, [&](std::int64_t c, __mmask32 there) {
        Value value = Value::load(from);
        for (std::int64_t t = 1; t < taps; ++t) value.take(Value::load(from + t * step));
        _mm512_mask_storeu_epi16(to + c, there, value.result(share));
        from += Value::bytes;
    });
}

template <class Value, int Taps>
void across(const PoolRow& s, std::int64_t first, std::int64_t n) {
    const std::int64_t pixel = (n + lanes - 1) / lanes * Value::bytes;
    for (std::int64_t p = 0; p < s.pixels; ++p) {
        const std::int64_t begin = p * s.stride - s.pad;
        std::int64_t t = 0, end = s.columns;
        if (begin < 0) t = (s.dilation - 1 - begin) / s.dilation;
        if (begin + (s.columns - 1) * s.dilation >= s.width)
            end = (s.width - begin + s.dilation - 1) / s.dilation;
        const std::byte* from = s.waiting + (begin + t * s.dilation) * pixel;
        const std::int64_t counted = s.divisor > 0 ? s.divisor : (end - t) * s.rows;
        const float share = 1.0F / static_cast<float>(counted);
        std::uint16_t* to = s.result + p * s.channels + first;
        if (Taps > 0 && end - t == Taps)
            across<Value, Taps>(from, Taps, s.dilation * pixel, share, to, n);
        else
            across<Value, 0>(from, end - t, s.dilation * pixel, share, to, n);
    }
}

// Channels of nearly equal slices whose columns stay in the first cache.
template <class Value>
std::int64_t slice_of(std::int64_t width, std::int64_t channels) {
    const std::int64_t pieces = (channels + lanes - 1) / lanes;
    const std::int64_t most = std::max<std::int64_t>(1, Value::cached / (width * Value::bytes));
    const std::int64_t slices = (pieces + most - 1) / most;
    return (pieces + slices - 1) / slices * lanes;
}

template <class Value>
void row_of(const PoolRow& s) {
    const std::int64_t slice = slice_of<Value>(s.width, s.channels);
    for (std::int64_t first = s.first; first < s.last; first += slice) {
        const std::int64_t n = std::min(slice, s.last - first);
        if (s.rows == 3)
            down<Value, 3>(s, first, n);
        else
            s.rows == 2 ? down<Value, 2>(s, first, n) : down<Value, 0>(s, first, n);
        if (s.columns == 3)
            across<Value, 3>(s, first, n);
        else
            s.columns == 2 ? across<Value, 2>(s, first, n) : across<Value, 0>(s, first, n);
    }
}

}  // namespace

void run(const PoolRow& row) { row.maximum ? row_of<Greatest>(row) : row_of<Mean>(row); }

std::int64_t waiting_bytes(bool maximum, std::int64_t width, std::int64_t channels) {
    return maximum ? slice_of<Greatest>(width, channels) / lanes * width * Greatest::bytes
                   : slice_of<Mean>(width, channels) / lanes * width * Mean::bytes;
}

}  // namespace viridian::execute::cpu::simd
HWY_POP_ATTRIBUTES
