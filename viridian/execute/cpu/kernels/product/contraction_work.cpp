#include "viridian/execute/cpu/kernels/product/contraction_work.hpp"

#include <algorithm>

#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/bf16/strip.hpp"
#include "viridian/execute/cpu/simd/bf16/tiles.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using simd::block;

// Pieces in which a panel is packed, for each thread.
constexpr std::int64_t pieces_of_a_panel = 8;

// Columns [first, last) of B of one batch, packed as [pass][group][row or pair of rows][columns].
struct Panel {
    std::int64_t batch = 0, first = 0, last = 0;
    float* packed = nullptr;
    simd::Groups groups;
};

// Packs the weights of strips of tiles: `units` pairs of rows for each group of columns, of which those
// behind the last row are zero.
void pack_tile_panels(const simd::Bf16View& matrix, std::int64_t rows, std::int64_t columns,
                      std::int64_t units, float* to) {
    constexpr std::int64_t width = 2 * block;
    for (std::int64_t first = 0; first < columns; first += width) {
        const std::int64_t count = std::min(width, columns - first),
                           room = (count + block - 1) / block * block;
        simd::pack_pair_panels({matrix.first + first * matrix.column, matrix.row, matrix.column}, rows, count,
                               width, reinterpret_cast<std::uint16_t*>(to));
        std::fill(to + rows / 2 * room, to + units * room, 0.0F);
        to += units * room;
    }
}

// Packs the same from f32: one third of the units has all entries rounded, one has them again, and one has
// the rests.
void pack_split_panels(const simd::MatrixView& matrix, std::int64_t rows, std::int64_t columns,
                       std::int64_t units, float* to) {
    constexpr std::int64_t width = 2 * block;
    for (std::int64_t first = 0; first < columns; first += width) {
        const std::int64_t count = std::min(width, columns - first),
                           room = (count + block - 1) / block * block;
        const simd::MatrixView group{matrix.first + first * matrix.column, matrix.row, matrix.column};
        const std::int64_t third = units / 3 * room;
        for (const simd::Part part : {simd::Part::rounded, simd::Part::rest}) {
            float* const at = part == simd::Part::rounded ? to : to + 2 * third;
            simd::pack_part_panels(group, part, rows, count, width, reinterpret_cast<std::uint16_t*>(at));
            std::fill(at + rows / 2 * room, at + third, 0.0F);
        }
        std::copy_n(to, third, to + third);
        to += units * room;
    }
}

// Packs a part of the panel's groups.
void pack(const ContractionWork& w, const Pointers& pointers, const Panel& panel, std::int64_t part,
          std::int64_t parts) {
    const auto [group, end] = share(panel.groups.count(), part, parts);
    if (group == end) return;
    const std::int64_t width = panel.groups.columns * block;
    const std::int64_t from = panel.first + group * width,
                       to = std::min(panel.last, panel.first + end * width);
    for (std::int64_t pass = 0; pass < w.passes(); ++pass) {
        const auto [row, last] = w.depth(pass);
        float* const packed = panel.packed + w.units(row) * panel.groups.blocks() * block +
                              panel.groups.offset(group, w.units(last - row) * block);
        const auto narrow = w.b.at<std::uint16_t>(pointers, panel.batch, row, from);
        if (w.split)
            pack_split_panels(w.b.at<float>(pointers, panel.batch, row, from), last - row, to - from,
                              w.units(last - row), packed);
        else if (w.tiles)
            pack_tile_panels(narrow, last - row, to - from, w.units(last - row), packed);
        else if (w.together == 2)
            simd::pack_pair_panels(narrow, last - row, to - from, width,
                                   reinterpret_cast<std::uint16_t*>(packed));
        else if (w.b.bf16)
            simd::pack_panels(narrow, last - row, to - from, width, packed);
        else
            simd::pack_panels(w.b.at<float>(pointers, panel.batch, row, from), last - row, to - from, width,
                              packed);
    }
}

// Packs rows [first, last) of A, and of their columns what the pass takes.
void pack_slice(const ContractionWork& w, const Pointers& pointers, std::int64_t batch, std::int64_t pass,
                std::int64_t first, std::int64_t last, float* packed) {
    const auto [from, to] = w.depth(pass);
    const auto narrow = w.a.at<std::uint16_t>(pointers, batch, first, from);
    if (w.split) {
        const auto wide = w.a.at<float>(pointers, batch, first, from);
        const std::int64_t third = w.units(to - from) / 3 * (last - first);
        for (const simd::Part part : {simd::Part::rounded, simd::Part::rest})
            simd::pack_part_pixels(
                wide, part, last - first, to - from, simd::tile_channels,
                reinterpret_cast<std::uint16_t*>(part == simd::Part::rounded ? packed : packed + third));
        std::copy_n(packed, third, packed + 2 * third);
    } else if (w.together == 2)
        simd::pack_pair_pixels(narrow, last - first, to - from, w.tiles ? simd::tile_channels : block,
                               reinterpret_cast<std::uint16_t*>(packed));
    else if (w.a.bf16)
        simd::pack_tiles(narrow, last - first, to - from, simd::tile_pixels(), packed);
    else
        simd::pack_tiles(w.a.at<float>(pointers, batch, first, from), last - first, to - from,
                         simd::tile_pixels(), packed);
}

// The place of the f32 results of some rows, and the residual that is added to them.
struct Results {
    float* first = nullptr;
    const float* add = nullptr;
    std::int64_t row = 0;              // elements from one row to the next
    std::uint16_t* rounded = nullptr;  // where the results are rounded to instead, or null
};

// One group of columns by the micro-kernel of f32 or of pairs.
template <class Strip>
void multiply_group(const ContractionWork& w, const Panel& panel, std::int64_t pass, std::int64_t g,
                    const Results& results, const float* bias, Strip& s) {
    const std::int64_t from_first = g * panel.groups.columns * block, column = panel.first + from_first;
    s.columns = panel.groups.width(g);
    s.result = results.first + from_first;
    if (pass == 0) {
        s.bias = bias == nullptr ? nullptr : bias + column;
        s.add = results.add == nullptr ? nullptr : results.add + from_first;
    } else {
        s.add = results.first + from_first;
    }
    s.result_pixel = results.row;
    s.result_block = block;
    s.last_width = std::min(block, panel.last - column - (s.columns - 1) * block);
    s.clip = w.fused.clip && pass + 1 == w.passes();
    s.low = w.fused.low, s.high = w.fused.high;
    simd::run(s);
}

// The same on the matrix unit: `units` pairs of entries of K, and bounds of the last pass.
void multiply_tiles(const ContractionWork& w, const Panel& panel, std::int64_t pass, std::int64_t g,
                    const Results& results, const float* bias, simd::TileStrip& s) {
    constexpr std::int64_t no_offset = 0;
    const std::int64_t from_first = g * panel.groups.columns * block, column = panel.first + from_first;
    s.columns = panel.groups.width(g);
    s.runs = &no_offset;
    s.source_row = simd::tile_channels;
    s.source_block = s.rows * simd::tile_channels;
    s.side_by_side = true;
    s.narrow = results.rounded != nullptr;
    s.result = s.narrow ? static_cast<void*>(results.rounded + from_first) : results.first + from_first;
    s.result_row = s.add_row = results.row;
    if (pass == 0) {
        s.bias = bias == nullptr ? nullptr : bias + column;
        s.add = results.add == nullptr ? nullptr : results.add + from_first;
    } else {
        s.add = results.first + from_first;
    }
    s.last_width = std::min(block, panel.last - column - (s.columns - 1) * block);
    s.clip = w.fused.clip && pass + 1 == w.passes();
    s.low = w.fused.low, s.high = w.fused.high;
    simd::run(s);
}

// One pass over `count` rows, packed in `rows`: results = rows · panel, or += after the first pass.
void multiply(const ContractionWork& w, const Panel& panel, std::int64_t pass, const float* rows,
              std::int64_t count, const Results& results, const float* bias) {
    constexpr std::int64_t no_offset = 0;
    const auto [from, to] = w.depth(pass);
    const float* const packed = panel.packed + w.units(from) * panel.groups.blocks() * block;
    for (std::int64_t g = 0; g < panel.groups.count(); ++g) {
        const float* const weights = packed + panel.groups.offset(g, w.units(to - from) * block);
        if (w.tiles) {
            simd::TileStrip s;
            s.rows = count;
            s.source = reinterpret_cast<const std::uint16_t*>(rows);
            s.run_blocks = w.units(to - from) * 2 / simd::tile_channels;
            s.weights = reinterpret_cast<const std::uint16_t*>(weights);
            multiply_tiles(w, panel, pass, g, results, bias, s);
            continue;
        }
        if (w.together == 2) {
            simd::Bf16Strip s;
            s.pixels = count;
            s.source = reinterpret_cast<const std::uint16_t*>(rows);
            s.source_block = count * block;
            s.channels = to - from;
            s.weights = reinterpret_cast<const std::uint16_t*>(weights);
            s.add_pixel = results.row;
            multiply_group(w, panel, pass, g, results, bias, s);
            continue;
        }
        simd::Strip s;
        s.pixels = count;
        s.source = rows;
        s.source_pixel = 0;
        s.taps = &no_offset;
        s.channels = to - from;
        s.weights = weights;
        if (g + 1 < panel.groups.count()) {
            s.ahead = packed + panel.groups.offset(g + 1, s.channels * block);
            s.ahead_step = simd::ahead_step(s.pixels, panel.groups.width(g));
        }
        multiply_group(w, panel, pass, g, results, bias, s);
    }
}

// Applies the chain to rows [first, last) and, if the result is stored in bf16, rounds them into the output.
void finish(const ContractionWork& w, const Pointers& pointers, const Panel& panel, const Results& results,
            std::int64_t first, std::int64_t last) {
    constexpr std::int64_t chunk = 1024;
    alignas(64) float scratch[chunk];
    const std::int64_t start = w.result.starts[static_cast<std::size_t>(panel.batch)] + panel.first;
    for (std::int64_t r = first; r < last; ++r)
        for (std::int64_t c = 0; c < panel.last - panel.first; c += chunk) {
            const std::int64_t n = std::min(chunk, panel.last - panel.first - c);
            const std::int64_t at = start + r * w.result.row + c;
            float* const made = results.first + (r - first) * results.row + c;
            if (w.fused.chain) w.fused.chain->run(pointers, made, made, at, n, scratch);
            if (w.result.bf16)
                simd::narrow(made, reinterpret_cast<std::uint16_t*>(pointers.outputs[0]) + at, n);
        }
}

// Rows [first, last) of slice number `i`.
std::pair<std::int64_t, std::int64_t> rows_of(const ContractionWork& w, std::int64_t i) {
    const std::int64_t tile = w.tile();
    const auto [begin, end] = share((w.m + tile - 1) / tile, i, w.slices());
    return {begin * tile, std::min(w.m, end * tile)};
}

// Slice number `i` of the rows of the result, for one panel. `packed` has the whole of A, or is null; then
// the slice is packed into `scratch`, which is the thread's own.
void slice_of(const ContractionWork& w, const Pointers& pointers, const Panel& panel, float* scratch,
              const float* packed, const float* bias, std::int64_t i) {
    const auto [first, last] = rows_of(w, i);
    Results results;
    const std::int64_t at =
        w.result.starts[static_cast<std::size_t>(panel.batch)] + first * w.result.row + panel.first;
    if (w.waits()) {
        results = {scratch + w.slice_floats(), nullptr, w.panel};
    } else if (w.result.bf16) {
        results.row = w.result.row;
        results.rounded = reinterpret_cast<std::uint16_t*>(pointers.outputs[0]) + at;
    } else {
        results = {reinterpret_cast<float*>(pointers.outputs[0]) + at, nullptr, w.result.row};
        if (w.fused.added) results.add = reinterpret_cast<const float*>(pointers.inputs[*w.fused.added]) + at;
    }
    for (std::int64_t pass = 0; pass < w.passes(); ++pass) {
        const float* rows = scratch;
        if (packed != nullptr)
            rows = packed + w.slice_in_whole(pass, i);
        else
            pack_slice(w, pointers, panel.batch, pass, first, last, scratch);
        multiply(w, panel, pass, rows, last - first, results, bias);
    }
    if (w.fused.chain || w.waits()) finish(w, pointers, panel, results, first, last);
    if (w.tiles) simd::release_tiles();
}

// The panel of B that begins with column `first`.
Panel panel_at(const ContractionWork& w, std::int64_t batch, std::int64_t first, float* packed) {
    const std::int64_t last = std::min(w.n, first + w.panel);
    return {batch, first, last, packed, {last - first, w.columns}};
}

// Multiplies the matrices of one batch. All threads pack the whole of A, and one thread each panel of B.
void run_by_columns(const ContractionWork& w, const Pointers& pointers, std::int64_t batch, float* shared,
                    float* own, const float* bias) {
    in_turn(w.threads, w.passes() * w.slices(), [&](std::int64_t i, int) {
        const std::int64_t pass = i / w.slices(), slice = i % w.slices();
        const auto [first, last] = rows_of(w, slice);
        pack_slice(w, pointers, batch, pass, first, last, shared + w.slice_in_whole(pass, slice));
    });
    in_turn(w.threads, (w.n + w.panel - 1) / w.panel, [&](std::int64_t i, int part) {
        const Panel panel = panel_at(w, batch, i * w.panel, own + part * w.thread_floats());
        pack(w, pointers, panel, 0, 1);
        for (std::int64_t slice = 0; slice < w.slices(); ++slice)
            slice_of(w, pointers, panel, nullptr, shared, bias, slice);
    });
}

}  // namespace

void run_contraction(const ContractionWork& w, const Pointers& pointers) {
    auto* const workspace = reinterpret_cast<float*>(pointers.workspace);
    float* const shared = workspace + w.bias_floats();
    float* const own = shared + w.shared_floats();
    const float* bias = nullptr;
    if (w.biased) {
        std::copy_n(w.bias.at(pointers), w.n, workspace);
        std::fill(workspace + w.n, shared, 0.0F);
        bias = workspace;
    }
    if (w.apart())
        return in_turn(w.threads, w.batches(), [&](std::int64_t batch, int part) {
            float* const scratch = own + part * w.thread_floats();
            for (std::int64_t first = 0; first < w.n; first += w.panel) {
                const Panel panel =
                    panel_at(w, batch, first, scratch + w.slice_floats() + w.waiting_floats());
                pack(w, pointers, panel, 0, 1);
                for (std::int64_t i = 0; i < w.slices(); ++i)
                    slice_of(w, pointers, panel, scratch, nullptr, bias, i);
            }
        });
    for (std::int64_t batch = 0; batch < w.batches(); ++batch) {
        if (w.by_columns) {
            run_by_columns(w, pointers, batch, shared, own, bias);
            continue;
        }
        for (std::int64_t first = 0; first < w.n; first += w.panel) {
            const Panel panel = panel_at(w, batch, first, shared);
            const std::int64_t pieces = w.threads == 1 ? 1 : w.threads * pieces_of_a_panel;
            in_turn(w.threads, pieces, [&](std::int64_t i, int) { pack(w, pointers, panel, i, pieces); });
            in_turn(w.threads, w.slices(), [&](std::int64_t i, int part) {
                slice_of(w, pointers, panel, own + part * w.thread_floats(), nullptr, bias, i);
            });
        }
    }
}

}  // namespace viridian::execute::cpu
