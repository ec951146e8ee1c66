#include "viridian/execute/cpu/kernels/product/strassen.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "viridian/execute/cpu/simd/convolution/strassen.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using simd::block;
using simd::strassen_products;

constexpr std::int64_t longest_chunk =
    768;  // of K: four panels and their differences stay in the second cache

std::int64_t lanes() { return simd::best_columns() * block; }

// K in chunks whose halves are whole blocks; offsets count half a chunk's numbers.
struct Chunks {
    std::int64_t k;
    [[nodiscard]] std::int64_t count() const { return (k + longest_chunk - 1) / longest_chunk; }
    [[nodiscard]] std::int64_t begin(std::int64_t c) const { return k / 2 / block * c / count() * block; }
    [[nodiscard]] std::int64_t half(std::int64_t c) const { return begin(c + 1) - begin(c); }
    [[nodiscard]] std::int64_t longest() const { return (k / 2 / block + count() - 1) / count() * block; }
};

// A thread's scratch: three differences of panels, then the products.
struct Scratch {
    float* sums;
    float* products;
    std::int64_t product_floats;
    static std::int64_t floats(std::int64_t m, std::int64_t k) {
        return 3 * Chunks{k}.longest() * lanes() + strassen_products * (m / 2) * lanes();
    }
    Scratch(float* at, std::int64_t m, std::int64_t k)
        : sums(at), products(at + 3 * Chunks{k}.longest() * lanes()), product_floats(m / 2 * lanes()) {}
    [[nodiscard]] float* product(std::int64_t i) const { return products + i * product_floats; }
};

constexpr std::int64_t slot_of_a21 = 4;  // in place of S1, if the eight products themselves are made

// Combines the products of one chunk: seven of sums, or the eight of the parts themselves if not `ordinary`.
// The panel `b` holds four parts of `size` floats; `sums` has room for three of these.
template <class Multiply, class Subtract, class Store>
void combine(bool ordinary, const float* b, std::int64_t size, float* sums, const Multiply& multiply,
             const Subtract& subtract, const Store& store) {
    const float *const b11 = b, *const b12 = b + size, *const b21 = b + 2 * size, *const b22 = b + 3 * size;
    if (!ordinary) {
        store(0, 0, multiply(1, b21, multiply(0, b11, nullptr)), nullptr, nullptr);
        store(0, 1, multiply(1, b22, multiply(0, b12, nullptr)), nullptr, nullptr);
        store(1, 0, multiply(3, b21, multiply(slot_of_a21, b11, nullptr)), nullptr, nullptr);
        store(1, 1, multiply(3, b22, multiply(slot_of_a21, b12, nullptr)), nullptr, nullptr);
        return;
    }
    float *const t1 = sums, *const t2 = t1 + size, *const t3 = t2 + size;
    const float* p1 = multiply(0, b11, nullptr);
    const float* c11 = multiply(1, b21, p1);  // + A12·B21
    const float* p3 = multiply(2, b22, nullptr);
    const float* p5 = subtract(4, t1, b12, b11, nullptr);
    const float* u2 = subtract(5, t2, b22, t1, p1);
    const float* u3 = subtract(6, t3, b22, b12, u2);
    const float* c21 = subtract(3, t1, b21, t2, u3);  // − A22·T4
    store(0, 0, c11, nullptr, nullptr);
    store(0, 1, p3, u2, p5);
    store(1, 0, c21, nullptr, nullptr);
    store(1, 1, u3, p5, nullptr);
}

// Makes one panel of both halves of the result, by seven products of sums or, if not `ordinary`, by the eight
// products themselves.
void make_panel(const Strassen& s, const Pointers& pointers, const float* sources, const Scratch& scratch,
                std::int64_t panel, bool ordinary) {
    constexpr std::int64_t no_offset = 0;
    const Chunks chunks{s.k};
    const std::int64_t wide = lanes(), rows = s.m / 2;
    const float* matrix = reinterpret_cast<const float*>(pointers.constants[0]) + panel * 2 * s.k * wide;
    const auto* bias = s.biased ? reinterpret_cast<const float*>(pointers.constants[1]) : nullptr;
    const auto* added =
        s.fused.added ? reinterpret_cast<const float*>(pointers.inputs[*s.fused.added]) : nullptr;
    auto* result = reinterpret_cast<float*>(pointers.outputs[0]);
    const std::int64_t tiles = (rows + simd::tile_pixels() - 1) / simd::tile_pixels();
    for (std::int64_t c = 0; c < chunks.count(); ++c) {
        const std::int64_t half = chunks.half(c), size = half * wide;
        const float* b = matrix + chunks.begin(c) * 4 * wide;
        const float* a = sources + chunks.begin(c) * strassen_products * rows;
        const std::int64_t step = (4 * wide + strassen_products * tiles - 1) / (strassen_products * tiles);
        // The i-th product of a source and a panel; what was made before is added to it.
        const auto strip_of = [&](std::int64_t i, const float* weights, const float* plus) {
            simd::Strip strip;
            strip.pixels = rows;
            strip.columns = simd::best_columns();
            strip.source = a + i * rows * half;
            strip.source_block = rows * block;
            strip.taps = &no_offset;
            strip.channels = half;
            strip.weights = weights;
            strip.ahead = b + 4 * size + i * tiles * half * step;
            strip.ahead_step = step;
            strip.add = plus;
            strip.result = scratch.product(i);
            strip.result_pixel = wide;
            strip.result_block = block;
            return strip;
        };
        const auto multiply = [&](std::int64_t i, const float* weights, const float* plus) {
            const simd::Strip strip = strip_of(i, weights, plus);
            simd::run(strip);
            return static_cast<const float*>(strip.result);
        };
        // By the panel `to` = x − y, which stays for other differences.
        const auto subtract = [&](std::int64_t i, float* to, const float* x, const float* y,
                                  const float* plus) {
            simd::Strip strip = strip_of(i, to, plus);
            strip.minuend = x, strip.subtrahend = y, strip.difference = to;
            simd::run(strip);
            return static_cast<const float*>(strip.result);
        };
        const bool last = c + 1 == chunks.count();
        const auto store = [&](std::int64_t row, std::int64_t column, const float* x, const float* y,
                               const float* z) {
            const std::int64_t first = column * s.n / 2 + panel * wide;
            const std::int64_t at = row * rows * s.n + first;
            simd::StrassenSum sum;
            sum.rows = rows, sum.width = wide;
            sum.a = x, sum.b = y, sum.c = z;
            sum.before = c > 0 ? result + at : added == nullptr ? nullptr : added + at;
            sum.bias = c > 0 || bias == nullptr ? nullptr : bias + first;
            sum.result = result + at;
            sum.result_row = s.n;
            sum.clip = last && s.fused.clip, sum.low = s.fused.low, sum.high = s.fused.high;
            simd::strassen_sum(sum);
        };
        combine(ordinary, b, size, scratch.sums, multiply, subtract, store);
    }
}

}  // namespace

bool Strassen::fits(std::int64_t m, std::int64_t n, std::int64_t k, int threads) {
    return m % 2 == 0 && m >= 64 && m <= 4096 && n % (2 * lanes()) == 0 && k % (2 * block) == 0 && k >= 256 &&
           n / 2 / lanes() >= 2 * threads;
}

bool Strassen::is_ordinary(std::span<const float> values) {
    return std::ranges::all_of(values, [](float value) { return std::abs(value) < simd::strassen_limit; });
}

Bytes Strassen::workspace() const {
    return Bytes((strassen_products * (m / 2) * (k / 2) + threads * Scratch::floats(m, k)) * 4);
}

void Strassen::run(const Pointers& pointers) const {
    const auto* a = reinterpret_cast<const float*>(pointers.inputs[source]);
    auto* sources = reinterpret_cast<float*>(pointers.workspace);
    auto* result = reinterpret_cast<float*>(pointers.outputs[0]);
    const Chunks chunks{k};
    const std::int64_t rows = m / 2, wide = lanes();
    std::atomic<bool> plainly = !ordinary;
    in_shares(threads, rows, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t c = 0; c < chunks.count(); ++c)
            for (std::int64_t r = first; r < last; ++r) {
                const float* row = a + r * k + 2 * chunks.begin(c);
                float* to = sources + chunks.begin(c) * strassen_products * rows + r * block;
                if (!simd::strassen_rows(row, row + rows * k, chunks.half(c), to, rows * chunks.half(c),
                                         rows * block))
                    plainly = true;
            }
    });
    if (plainly)
        in_shares(threads, rows, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t c = 0; c < chunks.count(); ++c)
                for (std::int64_t r = first; r < last; ++r) {
                    const float* row = a + (rows + r) * k + 2 * chunks.begin(c);
                    float* to = sources + chunks.begin(c) * strassen_products * rows +
                                slot_of_a21 * rows * chunks.half(c) + r * block;
                    for (std::int64_t i = 0; i < chunks.half(c); i += block)
                        std::copy_n(row + i, block, to + i * rows);
                }
        });
    parallel(threads, [&](int thread) {
        const Scratch scratch(sources + strassen_products * rows * (k / 2) + thread * Scratch::floats(m, k),
                              m, k);
        const auto [panel, end] = share(n / 2 / wide, thread, threads);
        for (std::int64_t p = panel; p < end; ++p) make_panel(*this, pointers, sources, scratch, p, !plainly);
        if (!fused.chain) return;
        alignas(64) float chain_scratch[1024];
        for (std::int64_t r = 0; r < m; ++r)
            for (const std::int64_t half : {std::int64_t{0}, n / 2})
                for (std::int64_t x = half + panel * wide; x < half + end * wide; x += 1024) {
                    float* at = result + r * n + x;
                    fused.chain->run(pointers, at, at, r * n + x,
                                     std::min<std::int64_t>(1024, half + end * wide - x), chain_scratch);
                }
    });
}

Packed pack_strassen(const Task& task, graph::ValueId id, std::int64_t n, std::int64_t k, bool transposed) {
    const graph::Tensor& tensor = *task.graph.constant(id);
    const auto values = tensor.values<float>();
    const std::int64_t wide = lanes();
    return task.context.packed->find_or_make(
        fmt::format("{:x} strassen {} {} columns", tensor.content_hash(), transposed, wide / block),
        static_cast<std::size_t>(n * k * 4), [&](std::byte* bytes) {
            auto* to = reinterpret_cast<float*>(bytes);
            const Chunks chunks{k};
            for (std::int64_t panel = 0; panel < n / 2 / wide; ++panel)
                for (std::int64_t c = 0; c < chunks.count(); ++c)
                    for (const auto& [lower, right] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}})
                        for (std::int64_t i = 0; i < chunks.half(c); ++i)
                            for (std::int64_t lane = 0; lane < wide; ++lane, ++to) {
                                const std::int64_t row = 2 * chunks.begin(c) + lower * chunks.half(c) + i;
                                const std::int64_t column = right * n / 2 + panel * wide + lane;
                                *to = values[static_cast<std::size_t>(transposed ? column * k + row
                                                                                 : row * n + column)];
                            }
        });
}

}  // namespace viridian::execute::cpu
