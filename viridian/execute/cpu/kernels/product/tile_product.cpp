#include "viridian/execute/cpu/kernels/product/tile_product.hpp"

#include <algorithm>

#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

constexpr std::int64_t copied_bytes = 512 * 1024;  // of a slice of the source
constexpr std::int64_t stays = 512 * 1024;         // bytes of weights, in a second cache
constexpr std::int64_t chain_rows = 128;           // of a slice whose results wait in f32
constexpr std::int64_t tile_product_chunk = 8;     // groups of columns that wait
constexpr int together = 2;                        // blocks of columns of a group

// The most channels that a block can have where all blocks of a run have equally many.
std::int64_t block_of(std::int64_t run) {
    for (std::int64_t n = std::min<std::int64_t>(run, simd::tile_channels); n > 1; --n)
        if (n % 2 == 0 && run % n == 0) return n;
    return 0;
}

std::int64_t divided(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

// Consecutive results: rows of the source or of the copy, which begin at `source`.
struct TileProduct::Slice {
    const std::uint16_t* source = nullptr;
    std::int64_t rows = 0;          // with those that straddle two lines
    std::int64_t results = 0;       // without
    std::int64_t first_result = 0;  // of the whole result
};

bool tiles_run(const Task& task) {
    return task.context.multiplies_bf16() && simd::matrix_unit() &&
           dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx512_core_amx;
}

void TileProduct::lay_out(std::int64_t taps_x, std::int64_t dilation_x) {
    const std::int64_t joined = dilation_x == 1 ? taps_x : 1;  // taps of a run
    const bool point = taps_y == 1 && taps_x == 1 && stride_y == 1 && stride_x == 1 && pad_y == 0 &&
                       pad_x == 0 && out_height == height && out_width == width && !row_major;
    // Of a kernel of one tap the copy has only what is read.
    if (taps_x == 1) sample_x = stride_x, stride_x = 1;
    if (taps_y == 1) sample_y = stride_y, stride_y = 1;
    unit = channels;
    copies = !point;
    std::int64_t best = 0;
    const auto cost = [&](std::int64_t channels_of_pixel) {
        const std::int64_t n = block_of(joined * channels_of_pixel);
        return n == 0 ? std::int64_t{1} << 40 : joined * channels_of_pixel / n;
    };
    for (std::int64_t n = channels; n < channels + simd::tile_channels; ++n)
        if (best == 0 || cost(n) < cost(best)) best = n;
    // A copy costs more than a third of the product's blocks unused.
    if (!point || cost(channels) > 2 * cost(best)) unit = best, copies = true;
    run_length = joined * unit;
    block = block_of(run_length);
    groups.columns = together;
    pitch = divided((out_width - 1) * stride_x + (taps_x - 1) * dilation_x + 1, stride_x) * stride_x;
    runs.clear();
    for (std::int64_t y = 0; y < taps_y; ++y)
        for (std::int64_t x = 0; x < taps_x; x += joined)
            runs.push_back(((y * dilation_y % stride_y * plane_lines() + y * dilation_y / stride_y) * pitch +
                            x * dilation_x) *
                           unit);
}

std::int64_t TileProduct::slice() const {
    if (by_channels && !fused.chain) return out_height;
    std::int64_t lines = std::max<std::int64_t>(1, copied_bytes / (pitch * stride_y * unit * 2));
    if (fused.chain) lines = std::min(lines, std::max<std::int64_t>(1, chain_rows / out_width));
    return std::min(lines, out_height);
}

std::int64_t TileProduct::plane_lines() const {
    const std::int64_t lines = by_channels ? out_height : slice();
    return divided((lines - 1) * stride_y + (taps_y - 1) * dilation_y + 1, stride_y);
}

std::int64_t TileProduct::copy_elements() const {
    return copies ? divided(stride_y * plane_lines() * pitch * unit, 32) * 32 : 0;
}

std::int64_t TileProduct::waiting_floats() const {
    if (!fused.chain) return 0;
    const std::int64_t rows = copies ? slice() * out_width : chain_rows;
    return (rows + 1) * tile_product_chunk * together * 16;
}

Bytes TileProduct::workspace() const {
    return Bytes(copy_elements() * 2 * (by_channels ? 1 : threads) + waiting_floats() * 4 * threads);
}

Packed TileProduct::pack(const Task& task, graph::ValueId id, const std::string& how, std::int64_t taps_x,
                         const std::function<float(std::int64_t, std::int64_t, std::int64_t)>& weight) const {
    const std::int64_t per_block = blocks() * block * 16;
    const std::string key = fmt::format("{:x} tiles {} {} {} {}", task.graph.constant(id)->content_hash(),
                                        how, unit, block, run_length);
    return task.context.packed->find_or_make(
        key, static_cast<std::size_t>(groups.blocks() * per_block * 2), [&](std::byte* bytes) {
            auto* to = reinterpret_cast<std::uint16_t*>(bytes);
            const std::int64_t joined = run_length / unit;
            for (std::int64_t g = 0; g < groups.count(); ++g)
                for (std::int64_t r = 0; r < static_cast<std::int64_t>(runs.size()); ++r)
                    for (std::int64_t from = 0; from < run_length; from += block)
                        for (std::int64_t column = 0; column < groups.width(g); ++column)
                            for (std::int64_t i = 0; i < block * 16; ++i, ++to) {
                                const std::int64_t at = from + i / 32 * 2 + i % 2;  // in the run
                                const std::int64_t tap = r / (taps_x / joined) * taps_x +
                                                         r % (taps_x / joined) * joined + at / unit;
                                const std::int64_t m = (g * together + column) * 16 + i % 32 / 2,
                                                   c = at % unit;
                                *to = m < groups.channels && c < channels
                                          ? graph::to_bfloat16(weight(m, c, tap))
                                          : std::uint16_t{0};
                            }
        });
}

// The part-th of the lines of a copy that begins `first` padded lines into the image.
void TileProduct::copy(const std::byte* image, std::uint16_t* to, std::int64_t first, std::int64_t lines,
                       std::int64_t part, std::int64_t parts) const {
    const auto [begin, end] = share(lines, part, parts);
    for (std::int64_t l = begin; l < end; ++l) {
        std::uint16_t* line = to + (l % stride_y * plane_lines() + l / stride_y) * pitch * unit;
        const std::int64_t y = (first + l) * sample_y - pad_y;
        if (y < 0 || y >= height) {
            std::fill_n(line, pitch * unit, std::uint16_t{0});
            continue;
        }
        // Pixels x·sample − pad of the image: those before it, in it, after it.
        const std::int64_t left = std::min(divided(pad_x, sample_x), pitch);
        const std::int64_t there =
            std::clamp<std::int64_t>(divided(width + pad_x, sample_x) - left, 0, pitch - left);
        const std::int64_t start = left * sample_x - pad_x;
        std::fill_n(line, left * unit, std::uint16_t{0});
        std::uint16_t* at = line + left * unit;
        if (row_major) {
            const auto* from = reinterpret_cast<const float*>(image) + y * width + start;
            if (unit == 4 && sample_x == 1)
                simd::narrow_planes(from, channels, height * width, at, there);
            else
                for (std::int64_t x = 0; x < there; ++x)
                    for (std::int64_t c = 0; c < unit; ++c)
                        at[x * unit + c] = c < channels
                                               ? graph::to_bfloat16(from[c * height * width + x * sample_x])
                                               : std::uint16_t{0};
        } else {
            const auto* from = reinterpret_cast<const std::uint16_t*>(image) + (y * width + start) * channels;
            if (unit == channels && sample_x == 1)
                std::copy_n(from, there * unit, at);
            else
                for (std::int64_t x = 0; x < there; ++x) {
                    std::copy_n(from + x * sample_x * channels, channels, at + x * unit);
                    std::fill_n(at + x * unit + channels, unit - channels, std::uint16_t{0});
                }
        }
        std::fill(at + there * unit, line + pitch * unit, std::uint16_t{0});
    }
}

void TileProduct::finish(const Pointers& pointers, const Slice& slice, std::int64_t group, std::int64_t end,
                         float* waiting) const {
    constexpr std::int64_t apart = tile_product_chunk * together * 16;
    float* scratch = waiting + waiting_floats() - apart;
    const std::int64_t column = group * together * 16, all = groups.channels;
    const std::int64_t n = std::min(all, end * together * 16) - column;
    for (std::int64_t r = 0; r < slice.results; ++r) {
        const std::int64_t at = (slice.first_result + r) * all + column;
        float* made = waiting + r * apart;
        fused.chain->run(pointers, made, made, at, n, scratch);
        if (narrow)
            simd::narrow(made, reinterpret_cast<std::uint16_t*>(pointers.outputs[0]) + at, n);
        else
            std::copy_n(made, n, reinterpret_cast<float*>(pointers.outputs[0]) + at);
    }
}

void TileProduct::multiply(const Pointers& pointers, const Slice& slice, std::int64_t group, std::int64_t end,
                           float* waiting) const {
    const std::int64_t all = groups.channels;
    const std::int64_t element = narrow ? 2 : 4;
    simd::TileStrip s;
    s.source = slice.source;
    s.source_row = stride_x * unit;
    s.pitch = copies ? pitch / stride_x : 1;
    s.width = copies ? out_width : 1;
    s.runs = runs.data();
    s.run_count = static_cast<std::int64_t>(runs.size());
    s.run_blocks = run_length / block;
    s.channels = s.source_block = block;
    s.clip = fused.clip, s.low = fused.low, s.high = fused.high;
    const std::int64_t column = group * together * 16, at = (slice.first_result * all + column) * element;
    s.rows = slice.rows;
    s.columns = std::min(groups.blocks(), end * together) - group * together;
    s.last_width = std::min<std::int64_t>(16, all - column - (s.columns - 1) * 16);
    s.weights = reinterpret_cast<const std::uint16_t*>(pointers.constants[0]) +
                groups.offset(group, blocks() * block * 16);
    if (biased) s.bias = reinterpret_cast<const float*>(pointers.constants[1]) + column;
    if (fused.added) {
        s.add = pointers.inputs[*fused.added] + at;
        s.add_narrow = narrow;
        s.add_row = all;
    }
    if (fused.chain) {
        s.result = waiting;
        s.result_row = tile_product_chunk * together * 16;
    } else {
        s.result = pointers.outputs[0] + at;
        s.result_row = all;
        s.narrow = narrow;
    }
    // Weights that stay in the second cache pass by the rows in the first; others are read once, ahead.
    if (!by_channels && s.columns * blocks() * block * 32 <= stays) s.rows_at_once = 2 * simd::tile_rows;
    simd::run(s);
}

void TileProduct::run(const Pointers& pointers) const {
    const std::int64_t line = width * channels, image_elements = height * line;
    const std::byte* input = pointers.inputs[source];
    auto* copied = reinterpret_cast<std::uint16_t*>(pointers.workspace);
    auto* floats =
        reinterpret_cast<float*>(pointers.workspace + copy_elements() * 2 * (by_channels ? 1 : threads));
    const auto chunks = [&](const Slice& slice, std::int64_t group, std::int64_t end, float* waiting) {
        if (!fused.chain) return multiply(pointers, slice, group, end, waiting);
        for (std::int64_t g = group; g < end; g += tile_product_chunk) {
            multiply(pointers, slice, g, std::min(end, g + tile_product_chunk), waiting);
            finish(pointers, slice, g, std::min(end, g + tile_product_chunk), waiting);
        }
    };
    parallel(threads, [&](int thread) {
        float* waiting = floats + thread * waiting_floats();
        const auto [group, end] = by_channels ? share(groups.count(), thread, threads)
                                              : std::pair<std::int64_t, std::int64_t>{0, groups.count()};
        if (!copies) {
            const std::int64_t rows = images * height * width;
            const std::int64_t tiles = divided(rows, simd::tile_rows);
            const auto [first, last] =
                by_channels ? std::pair<std::int64_t, std::int64_t>{0, tiles} : share(tiles, thread, threads);
            const std::int64_t begin = first * simd::tile_rows, stop = std::min(rows, last * simd::tile_rows);
            const std::int64_t slices = fused.chain ? divided(stop - begin, chain_rows) : 1;
            for (std::int64_t i = 0; i < slices; ++i) {
                const auto [from, to] = share(stop - begin, i, slices);
                const auto* rows_from =
                    reinterpret_cast<const std::uint16_t*>(input) + (begin + from) * channels;
                if (to > from) chunks({rows_from, to - from, to - from, begin + from}, group, end, waiting);
            }
        } else {
            const std::int64_t element = row_major ? 4 : 2, straddling = pitch / stride_x;
            const auto slice_at = [&](const std::uint16_t* from, std::int64_t first, std::int64_t lines) {
                return Slice{from, (lines - 1) * straddling + out_width, lines * out_width,
                             first * out_width};
            };
            const auto copied_lines = [&](std::int64_t lines) {
                return (lines - 1) * stride_y + (taps_y - 1) * dilation_y + 1;
            };
            if (by_channels) {
                for (std::int64_t n = 0; n < images; ++n) {
                    copy(input + n * image_elements * element, copied, 0, copied_lines(out_height), thread,
                         threads);
                    barrier(threads);
                    for (std::int64_t y = 0; y < out_height; y += slice())
                        chunks(slice_at(copied + y * pitch * unit, n * out_height + y,
                                        std::min(slice(), out_height - y)),
                               group, end, waiting);
                    if (n + 1 < images) barrier(threads);
                }
            } else {
                std::uint16_t* own = copied + thread * copy_elements();
                const auto [first, last] = share(images * out_height, thread, threads);
                for (std::int64_t y = first; y < last;) {
                    const std::int64_t n = y / out_height, in_image = y % out_height;
                    const std::int64_t lines = std::min({slice(), last - y, out_height - in_image});
                    copy(input + n * image_elements * element, own, in_image * stride_y, copied_lines(lines),
                         0, 1);
                    chunks(slice_at(own, y, lines), group, end, waiting);
                    y += lines;
                }
            }
        }
        simd::release_tiles();
    });
}

}  // namespace viridian::execute::cpu
