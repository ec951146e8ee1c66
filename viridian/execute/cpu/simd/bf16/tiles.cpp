#include "viridian/execute/cpu/simd/bf16/tiles.hpp"

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hwy/base.h>
#include <algorithm>
#include <array>

#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/simd/bf16/lanes.hpp"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace viridian::execute::cpu::simd {
namespace {

// Tiles 0 to 3 are sums ([row tile][column block]), 4 and 5 source rows, 6 and 7 weights.
struct alignas(64) Configuration {
    std::uint8_t palette = 1, start = 0;
    std::array<std::uint8_t, 14> reserved{};
    std::array<std::uint16_t, 16> bytes{};  // of a row
    std::array<std::uint8_t, 16> rows{};
};
static_assert(sizeof(Configuration) == 64);

// The intrinsics of g++ 12 do not say that they read memory.
template <int Tile>
HWY_INLINE void load_tile(const void* from, std::int64_t bytes) {
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0" ::"i"(Tile), "r"(from), "r"(bytes) : "memory");
}
template <int Tile>
HWY_INLINE void store_tile(void* to, std::int64_t bytes) {
    asm volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(Tile), "r"(to), "r"(bytes) : "memory");
}
template <int Tile>
HWY_INLINE void zero_tile() {
    asm volatile("tilezero %%tmm%c0" ::"i"(Tile));
}
template <int Sum, int Source, int Weights>
HWY_INLINE void multiply_tiles() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(Sum), "i"(Source), "i"(Weights));
}

constexpr std::int64_t sums_row = 32;  // floats
constexpr std::int64_t band_tiles = 8;
constexpr std::int64_t pass_lines = 256;   // of weights, 64 bytes each
constexpr std::int64_t ahead_lines = 512;  // how far ahead weights are read

// Rows of sums on their way into the result. They are finished while the unit multiplies others: it would
// wait for them.
class Pending {
  public:
    explicit Pending(const TileStrip& s)
        : low_(_mm512_set1_ps(s.low)), high_(_mm512_set1_ps(s.high)), s_(s) {}

    // `count` rows from `row` on, of columns from block `column` on; those before are done.
    void set(const float* sums, std::int64_t row, std::int64_t count, std::int64_t column, int columns) {
        sums_ = sums, left_ = count;
        x_ = s_.pitch == 1 ? 0 : row % s_.pitch;
        const std::int64_t line = s_.pitch == 1 ? row : row / s_.pitch * s_.width + std::min(x_, s_.width);
        at_ = line * s_.result_row + column * 16;
        added_ = line * s_.add_row + column * 16;
        for (int v = 0; v < 2; ++v)
            bias_[v] = s_.bias == nullptr || v >= columns ? _mm512_setzero_ps()
                                                          : _mm512_loadu_ps(s_.bias + (column + v) * 16);
        const bool last = column + columns == s_.columns;
        last_ = static_cast<__mmask16>(last ? (1U << s_.last_width) - 1U : 0xffffU);
        two_ = columns == 2;
        whole_ = two_ && s_.narrow && last_ == every_lane;
    }

    HWY_INLINE void some(std::int64_t rows) {
        rows = std::min(rows, left_);
        if (rows > 0) whole_ ? finish<true>(rows) : finish<false>(rows);
    }
    void all() { some(left_); }

  private:
    template <bool Whole>
    HWY_INLINE void finish(std::int64_t rows) {
        const __m512 low = low_, high = high_, bias[2] = {bias_[0], bias_[1]};
        const float* sums = sums_;
        void* const result = s_.result;
        const void* const add = s_.add;
        const std::int64_t width = s_.width, pitch = s_.pitch, apart = s_.result_row;
        const bool narrow = s_.narrow, add_narrow = s_.add_narrow, clip = s_.clip, two = Whole || two_;
        const __mmask16 last = Whole ? every_lane : last_, first = two ? every_lane : last;
        std::int64_t x = x_, at = at_, added = added_;
        const auto made = [&](int v, __mmask16 valid) {
            __m512 y = _mm512_add_ps(_mm512_load_ps(sums + v * 16), bias[v]);
            if (add != nullptr) y = _mm512_add_ps(y, load_lanes(add, add_narrow, added + v * 16, valid));
            // NaN stays: of two the second is the answer.
            if (clip) y = _mm512_maskz_min_ps(every_lane, high, _mm512_maskz_max_ps(every_lane, low, y));
            return y;
        };
        for (std::int64_t r = 0; r < rows; ++r, sums += sums_row) {
            const bool counts = x < width;
            if (++x >= pitch) x = 0;
            if (!counts) continue;
            if constexpr (Whole) {
                const __m512 left = made(0, every_lane), right = made(1, every_lane);
                _mm512_storeu_si512(static_cast<std::uint16_t*>(result) + at,
                                    reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(right, left)));
            } else {
                store_lanes(made(0, first), result, narrow, at, first);
                if (two) store_lanes(made(1, last), result, narrow, at + 16, last);
            }
            at += apart, added += s_.add_row;
        }
        sums_ = sums, x_ = x, at_ = at, added_ = added, left_ -= rows;
    }

    __m512 low_, high_, bias_[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
    const TileStrip& s_;
    const float* sums_ = nullptr;
    std::int64_t left_ = 0, x_ = 0, at_ = 0, added_ = 0;
    __mmask16 last_ = every_lane;
    bool two_ = true, whole_ = true;
};

// Weights that are read ahead while others are multiplied.
struct Ahead {
    const std::uint16_t* at = nullptr;
    std::int64_t lines = 0;  // for every block of channels
};

// Two tiles of rows (or one) from `row` on, `second` rows apart, by blocks of channels [begin, end) of all
// runs: added to the sums, or where they begin, in their place.
template <int Tiles, int Columns>
void multiply(const TileStrip& s, std::int64_t row, std::int64_t second, const std::uint16_t* weights,
              std::int64_t begin, std::int64_t end, Ahead& ahead, Pending& pending, float* sums) {
    float* below_sums = sums + second * sums_row;
    if (begin == 0) {
        zero_tile<0>();
        if constexpr (Columns > 1) zero_tile<1>();
        if constexpr (Tiles > 1) zero_tile<2>();
        if constexpr (Tiles > 1 && Columns > 1) zero_tile<3>();
    } else {
        load_tile<0>(sums, sums_row * 4);
        if constexpr (Columns > 1) load_tile<1>(sums + 16, sums_row * 4);
        if constexpr (Tiles > 1) load_tile<2>(below_sums, sums_row * 4);
        if constexpr (Tiles > 1 && Columns > 1) load_tile<3>(below_sums + 16, sums_row * 4);
    }
    const std::int64_t row_bytes = s.source_row * 2, tile = s.channels * 16, step = s.source_block;
    const std::int64_t weights_bytes = s.side_by_side ? 64 * Columns : 64;
    const std::int64_t right = s.side_by_side ? 32 : tile;  // where the second block of columns begins
    const std::uint16_t* w = weights + begin * tile * Columns;
    const std::uint16_t* next = ahead.at;
    const std::int64_t lines = ahead.lines, finished = (2 * tile_rows + end - begin - 1) / (end - begin);
    std::int64_t run = begin == 0 ? 0 : begin / s.run_blocks;
    for (std::int64_t block = begin; block < end; ++run) {
        const std::int64_t in_run = block - run * s.run_blocks;
        const std::int64_t count = std::min(end - block, s.run_blocks - in_run);
        const std::uint16_t* above = s.source + row * s.source_row + s.runs[run] + in_run * step;
        const std::uint16_t* below = above + second * s.source_row;
        for (std::int64_t b = 0; b < count; ++b, above += step, below += step) {
            load_tile<4>(above, row_bytes);
            if constexpr (Tiles > 1) load_tile<5>(below, row_bytes);
            load_tile<6>(w, weights_bytes);
            multiply_tiles<0, 4, 6>();
            if constexpr (Tiles > 1) multiply_tiles<2, 5, 6>();
            if constexpr (Columns > 1) {
                load_tile<7>(w + right, weights_bytes);
                multiply_tiles<1, 4, 7>();
                if constexpr (Tiles > 1) multiply_tiles<3, 5, 7>();
            }
            w += tile * Columns;
            for (std::int64_t i = 0; i < lines; ++i, next += 32) _mm_prefetch(next, _MM_HINT_T1);
            pending.some(finished);
        }
        block += count;
    }
    ahead.at = next;
    pending.all();
    store_tile<0>(sums, sums_row * 4);
    if constexpr (Columns > 1) store_tile<1>(sums + 16, sums_row * 4);
    if constexpr (Tiles > 1) store_tile<2>(below_sums, sums_row * 4);
    if constexpr (Tiles > 1 && Columns > 1) store_tile<3>(below_sums + 16, sums_row * 4);
}

struct Rows {
    std::int64_t first, tiles, height, end;  // of the first tile, how many, rows of each, the last row's end
    [[nodiscard]] std::int64_t start(std::int64_t tile) const { return std::min(first + tile * height, end); }
};

class Strip {
  public:
    explicit Strip(const TileStrip& s) : pending_(s), s_(s) {}

    void run() {
        const std::int64_t at_once = s_.rows_at_once > 0 ? s_.rows_at_once : s_.rows;
        for (std::int64_t first = 0; first < s_.rows; first += at_once) {
            const std::int64_t end = std::min(s_.rows, first + at_once);
            const std::int64_t tiles = (end - first + tile_rows - 1) / tile_rows;
            const Rows rows{first, tiles, (end - first + tiles - 1) / tiles, end};
            for (std::int64_t column = 0; column < s_.columns; column += 2)
                column + 1 < s_.columns ? columns<2>(rows, column) : columns<1>(rows, column);
        }
        pending_.all();
    }

  private:
    // Bands of rows whose sums, and within them passes over blocks of channels whose weights, stay in the
    // first cache while the band's rows go by.
    template <int Columns>
    void columns(const Rows& rows, std::int64_t column) {
        const std::int64_t lines = s_.channels / 2 * Columns;  // of a block's weights
        const std::uint16_t* weights = s_.weights + column * blocks_ * s_.channels * 16;
        for (std::int64_t band = 0; band < rows.tiles; band += band_tiles) {
            const std::int64_t band_end = std::min(rows.tiles, band + band_tiles);
            const std::int64_t pairs = (band_end - band + 1) / 2;
            const std::int64_t passes =
                pairs == 1 ? 1 : std::max<std::int64_t>(1, blocks_ * lines / pass_lines);
            for (std::int64_t pass = 0; pass < passes; ++pass) {
                const std::int64_t begin = blocks_ * pass / passes, end = blocks_ * (pass + 1) / passes;
                Ahead ahead;
                const std::uint16_t* next = weights + (begin * lines + ahead_lines) * 32;
                if (band == 0 && rows.first == 0 && next < weights_end_)
                    ahead = {next, (lines + pairs - 1) / pairs};
                for (std::int64_t t = band; t < band_end; t += 2) {
                    const std::int64_t row = rows.start(t), middle = rows.start(t + 1);
                    const std::int64_t last = t + 1 < band_end ? rows.start(t + 2) : middle;
                    configure(middle - row, last - middle);
                    // Not where rows wait to be finished.
                    float* sums =
                        sums_ + (passes > 1 ? (t - band) / 2 : turn_++ % 2) * 2 * tile_rows * sums_row;
                    if (last > middle)
                        multiply<2, Columns>(s_, row, middle - row, weights, begin, end, ahead, pending_,
                                             sums);
                    else
                        multiply<1, Columns>(s_, row, 0, weights, begin, end, ahead, pending_, sums);
                    if (end == blocks_) pending_.set(sums, row, last - row, column, Columns);
                }
            }
        }
    }

    void configure(std::int64_t above, std::int64_t below) {
        if (configured_ == above * 17 + below) return;
        configured_ = above * 17 + below;
        Configuration c;
        const auto set = [&](std::size_t tile, std::int64_t rows, std::int64_t bytes) {
            if (rows == 0) return;
            c.rows[tile] = static_cast<std::uint8_t>(rows);
            c.bytes[tile] = static_cast<std::uint16_t>(bytes);
        };
        for (const std::size_t i : {0U, 1U}) {
            set(i, above, 64);
            set(2 + i, below, 64);
            set(6 + i, s_.channels / 2, 64);
        }
        set(4, above, s_.channels * 2);
        set(5, below, s_.channels * 2);
        asm volatile("ldtilecfg %0" ::"m"(c));
    }

    Pending pending_;
    alignas(64) float sums_[band_tiles * tile_rows * sums_row];
    const TileStrip& s_;
    std::int64_t blocks_ = s_.run_count * s_.run_blocks;
    const std::uint16_t* weights_end_ = s_.weights + s_.columns * blocks_ * s_.channels * 16;
    std::int64_t configured_ = 0;
    std::uint32_t turn_ = 0;
};

}  // namespace

void run(const TileStrip& strip) { Strip(strip).run(); }

void release_tiles() { asm volatile("tilerelease"); }

}  // namespace viridian::execute::cpu::simd
HWY_POP_ATTRIBUTES

namespace viridian::execute::cpu::simd {

bool matrix_unit() {
    // Linux: the registers are given to processes that ask (arch_prctl(ARCH_REQ_XCOMP_PERM,
    // XFEATURE_XTILEDATA)).
    static const bool granted = [] {
        const Machine machine = this_machine();
        return machine.has("amx_bf16") && machine.has("avx512_bf16") &&
               syscall(SYS_arch_prctl, 0x1023, 18) == 0;
    }();
    return granted;
}

}  // namespace viridian::execute::cpu::simd
