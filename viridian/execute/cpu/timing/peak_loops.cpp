#include "viridian/execute/cpu/timing/peak_loops.hpp"

#include <immintrin.h>

#include <hwy/base.h>

#include <array>

#include "viridian/execute/cpu/simd/bf16/tiles.hpp"

namespace viridian::execute::cpu {

namespace {

// Independent sums, more than a multiply-add takes cycles times the units that do one a cycle.
constexpr int sums_of_avx2 = 12, sums_of_avx512 = 24;

}  // namespace

HWY_PUSH_ATTRIBUTES("avx2,fma")
namespace {

// Each sum tends to 2, so that no number is infinite or denormal. The compiler must not know that all of them
// are equal, or it would compute one of them.
float multiply_add_avx2(std::int64_t passes) {
    const __m256 half = _mm256_set1_ps(0.5F), one = _mm256_set1_ps(1);
    __m256 sum[sums_of_avx2];
#pragma GCC unroll 12
    for (__m256& each : sum) {
        each = one;
        asm("" : "+x"(each));
    }
    for (std::int64_t pass = 0; pass < passes; ++pass)
#pragma GCC unroll 12
        for (__m256& each : sum) each = _mm256_fmadd_ps(each, half, one);
    __m256 all = sum[0];
    for (int i = 1; i < sums_of_avx2; ++i) all = _mm256_add_ps(all, sum[i]);
    return _mm256_cvtss_f32(all);
}

}  // namespace

float read_all(const std::byte* from, std::size_t bytes) {
    const auto* at = reinterpret_cast<const float*>(from);
    __m256 sum[8];
#pragma GCC unroll 8
    for (__m256& each : sum) each = _mm256_setzero_ps();
    for (std::size_t left = bytes; left > 0; left -= 256, at += 64)
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) sum[i] = _mm256_add_ps(sum[i], _mm256_load_ps(at + 8 * i));
    __m256 all = sum[0];
    for (int i = 1; i < 8; ++i) all = _mm256_add_ps(all, sum[i]);
    return _mm256_cvtss_f32(all);
}

void write_all(std::byte* to, std::size_t bytes, bool streaming) {
    auto* at = reinterpret_cast<float*>(to);
    const __m256 one = _mm256_set1_ps(1);
    if (streaming) {
        for (std::size_t left = bytes; left > 0; left -= 64, at += 16) {
            _mm256_stream_ps(at, one);
            _mm256_stream_ps(at + 8, one);
        }
        _mm_sfence();
        return;
    }
    for (std::size_t left = bytes; left > 0; left -= 64, at += 16) {
        _mm256_store_ps(at, one);
        _mm256_store_ps(at + 8, one);
    }
}

void copy_all(const std::byte* from, std::byte* to, std::size_t bytes, bool streaming) {
    const auto* source = reinterpret_cast<const float*>(from);
    auto* target = reinterpret_cast<float*>(to);
    for (std::size_t left = bytes; left > 0; left -= 64, source += 16, target += 16) {
        const __m256 low = _mm256_load_ps(source), high = _mm256_load_ps(source + 8);
        if (streaming) {
            _mm256_stream_ps(target, low);
            _mm256_stream_ps(target + 8, high);
        } else {
            _mm256_store_ps(target, low);
            _mm256_store_ps(target + 8, high);
        }
    }
    if (streaming) _mm_sfence();
}
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx512f")
namespace {

float multiply_add_avx512(std::int64_t passes) {
    const __m512 half = _mm512_set1_ps(0.5F), one = _mm512_set1_ps(1);
    __m512 sum[sums_of_avx512];
#pragma GCC unroll 24
    for (__m512& each : sum) {
        each = one;
        asm("" : "+v"(each));
    }
    for (std::int64_t pass = 0; pass < passes; ++pass)
#pragma GCC unroll 24
        for (__m512& each : sum) each = _mm512_fmadd_ps(each, half, one);
    __m512 all = sum[0];
    for (int i = 1; i < sums_of_avx512; ++i) all = _mm512_add_ps(all, sum[i]);
    return _mm512_cvtss_f32(all);
}

}  // namespace
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace {

float dot_products(std::int64_t passes) {
    const auto zeroes = reinterpret_cast<__m512bh>(_mm512_setzero_si512());
    __m512 sum[sums_of_avx512];
#pragma GCC unroll 24
    for (__m512& each : sum) {
        each = _mm512_set1_ps(1);
        asm("" : "+v"(each));
    }
    for (std::int64_t pass = 0; pass < passes; ++pass)
#pragma GCC unroll 24
        for (__m512& each : sum) each = _mm512_dpbf16_ps(each, zeroes, zeroes);
    __m512 all = sum[0];
    for (int i = 1; i < sums_of_avx512; ++i) all = _mm512_add_ps(all, sum[i]);
    return _mm512_cvtss_f32(all);
}

}  // namespace
HWY_POP_ATTRIBUTES

namespace {

// The registers of the matrix unit: eight tiles, each of 16 rows of 64 bytes. The first four are sums.
constexpr int sums_of_tiles = 4;
struct alignas(64) EightTiles {
    std::uint8_t palette = 1, start = 0;
    std::array<std::uint8_t, 14> reserved{};
    std::array<std::uint16_t, 16> bytes{64, 64, 64, 64, 64, 64, 64, 64};  // of a row
    std::array<std::uint8_t, 16> rows{16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(EightTiles) == 64);

// Products of ones: a pass adds 32 to each of a sum's 16 · 16 elements.
float tile_products(std::int64_t passes) {
    alignas(64) std::array<std::uint16_t, 32> ones;
    ones.fill(0x3f80);  // 1 in bf16
    alignas(64) std::array<float, 16> sum{};
    const EightTiles tiles;
    asm volatile("ldtilecfg %0" ::"m"(tiles));
    asm volatile(
        "tilezero %%tmm0\n tilezero %%tmm1\n tilezero %%tmm2\n tilezero %%tmm3\n"
        "tileloadd (%0,%1,1), %%tmm4\n tileloadd (%0,%1,1), %%tmm5\n"
        "tileloadd (%0,%1,1), %%tmm6\n tileloadd (%0,%1,1), %%tmm7" ::"r"(ones.data()),
        "r"(std::int64_t{0})
        : "memory");
    for (std::int64_t pass = 0; pass < passes; ++pass)
        asm volatile(
            "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n"
            "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n tdpbf16ps %%tmm7, %%tmm5, %%tmm3" ::);
    float all = 0;
    const auto add = [&] { all += sum[0]; };  // all rows of a tile are stored to one place, and are equal
    asm volatile("tilestored %%tmm0, (%0,%1,1)" ::"r"(sum.data()), "r"(std::int64_t{0}) : "memory");
    add();
    asm volatile("tilestored %%tmm1, (%0,%1,1)" ::"r"(sum.data()), "r"(std::int64_t{0}) : "memory");
    add();
    asm volatile("tilestored %%tmm2, (%0,%1,1)" ::"r"(sum.data()), "r"(std::int64_t{0}) : "memory");
    add();
    asm volatile("tilestored %%tmm3, (%0,%1,1)" ::"r"(sum.data()), "r"(std::int64_t{0}) : "memory");
    add();
    simd::release_tiles();
    return all;
}

}  // namespace

ArithmeticLoop f32_loop(bool avx512) {
    if (avx512) return {2.0 * 16 * sums_of_avx512, multiply_add_avx512};
    return {2.0 * 8 * sums_of_avx2, multiply_add_avx2};
}

ArithmeticLoop bf16_loop() { return {4.0 * 16 * sums_of_avx512, dot_products}; }

ArithmeticLoop tile_loop() { return {2.0 * 16 * 16 * 32 * sums_of_tiles, tile_products}; }

}  // namespace viridian::execute::cpu
