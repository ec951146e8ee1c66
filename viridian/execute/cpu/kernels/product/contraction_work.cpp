#include "viridian/execute/cpu/kernels/product/contraction_work.hpp"

#include <algorithm>

#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/bf16/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using simd::block;

// Depth of one pass over K, in units of four bytes: with one block of columns at once, 256 × 16 columns of B
// take half of an L1 cache of 32 KiB, and a tile of A fits beside them. Two blocks are read from the L2
// cache anyway, and fewer passes read and write the results less often. In bf16 a unit is a pair, so a pass
// takes twice as many rows. If the result is stored in bf16, its f32 sums wait in the L2 cache too
// (choose_pieces); a pass then needs slightly more than 512 KiB. Products in f32 with two blocks take twice
// the depth if the L2 cache has at least 2 MiB.
constexpr std::int64_t depth_of_one_block = 256, depth_of_two = 512, depth_in_large = 1024;
constexpr std::int64_t large_own_cache = 2 << 20;
// Rows of a slice of A in pairs, or of one whose results wait in f32 to be rounded. Other slices take 9/16 of
// the L2 cache.
constexpr std::int64_t rows_in_bf16 = 112;
// Sizes of the L3 and L2 caches if the machine does not tell them.
constexpr std::int64_t usual_last_cache = 8 << 20, usual_own_cache = 512 << 10;

// Columns [first, last) of B of one batch, packed as [pass][group][row or pair of rows][columns].
struct Panel {
    std::int64_t batch = 0, first = 0, last = 0;
    float* packed = nullptr;
    simd::Groups groups;
};

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
        float* const packed = panel.packed + row / w.together * panel.groups.blocks() * block +
                              panel.groups.offset(group, (last - row) / w.together * block);
        const auto narrow = w.b.at<std::uint16_t>(pointers, panel.batch, row, from);
        if (w.together == 2)
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
    if (w.together == 2)
        simd::pack_pair_pixels(narrow, last - first, to - from, reinterpret_cast<std::uint16_t*>(packed));
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
    std::int64_t row = 0;  // floats from one row to the next
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

// One pass over `count` rows, packed in `rows`: results = rows · panel, or += after the first pass.
void multiply(const ContractionWork& w, const Panel& panel, std::int64_t pass, const float* rows,
              std::int64_t count, const Results& results, const float* bias) {
    constexpr std::int64_t no_offset = 0;
    const auto [from, to] = w.depth(pass);
    const float* const packed = panel.packed + from / w.together * panel.groups.blocks() * block;
    for (std::int64_t g = 0; g < panel.groups.count(); ++g) {
        const float* const weights = packed + panel.groups.offset(g, (to - from) / w.together * block);
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

// The rows of the result that belong to a share of all tiles of rows, for one panel.
void rows_of(const ContractionWork& w, const Pointers& pointers, const Panel& panel, float* packed,
             const float* bias, std::int64_t part, std::int64_t parts) {
    const std::int64_t tile = simd::tile_pixels();
    const auto [begin, end] = share((w.m + tile - 1) / tile, part, parts);
    const std::int64_t slices = ((end - begin) * tile + w.slice - 1) / w.slice;
    for (std::int64_t i = 0; i < slices; ++i) {
        const auto [one, other] = share(end - begin, i, slices);
        const std::int64_t first = (begin + one) * tile, last = std::min(w.m, (begin + other) * tile);
        Results results;
        if (w.result.bf16) {
            results = {packed + w.slice_floats(), nullptr, w.panel};
        } else {
            const std::int64_t at =
                w.result.starts[static_cast<std::size_t>(panel.batch)] + first * w.result.row + panel.first;
            results = {reinterpret_cast<float*>(pointers.outputs[0]) + at, nullptr, w.result.row};
            if (w.fused.added)
                results.add = reinterpret_cast<const float*>(pointers.inputs[*w.fused.added]) + at;
        }
        for (std::int64_t pass = 0; pass < w.passes(); ++pass) {
            pack_slice(w, pointers, panel.batch, pass, first, last, packed);
            multiply(w, panel, pass, packed, last - first, results, bias);
        }
        if (w.fused.chain || w.result.bf16) finish(w, pointers, panel, results, first, last);
    }
}

}  // namespace

std::int64_t ContractionWork::passes() const { return (k + deepest - 1) / deepest; }

std::pair<std::int64_t, std::int64_t> ContractionWork::depth(std::int64_t pass) const {
    const auto [first, last] = share((k + block - 1) / block, pass, passes());
    return {first * block, std::min(k, last * block)};
}

std::int64_t ContractionWork::panel_floats() const {
    return (panel + block - 1) / block * block * (k / together);
}

std::int64_t ContractionWork::slice_floats() const { return slice * (deepest / together + block); }

void choose_pieces(ContractionWork& w) {
    w.columns = w.together == 2 ? 2 : simd::best_columns();
    const std::int64_t tile = simd::tile_pixels(), width = w.columns * block;
    const std::int64_t own = this_machine().l2.value, last = this_machine().l3.value;
    const std::int64_t own_cache = own > 0 ? own : usual_own_cache;
    const std::int64_t cache = last > 0 ? last : usual_last_cache;
    const bool in_f32 = w.together == 1 && !w.result.bf16;
    const std::int64_t depth = w.columns == 1                           ? depth_of_one_block
                               : in_f32 && own_cache >= large_own_cache ? depth_in_large
                                                                        : depth_of_two;
    w.deepest = depth * w.together;
    const std::int64_t rows =
        w.result.bf16 || w.together == 2 ? rows_in_bf16 : own_cache * 9 / 16 / (4 * w.deepest / w.together);
    w.slice = std::clamp<std::int64_t>(rows / tile, 1, (w.m + tile - 1) / tile) * tile;
    const std::int64_t room = cache / 2 / (w.apart() ? w.threads : 1);
    const std::int64_t panels = (w.k / w.together * w.n * 4 + room - 1) / room;
    w.panel = ((w.n + panels - 1) / panels + width - 1) / width * width;
    if (!w.result.bf16) return;
    // Every pass reads and writes the f32 results that wait for rounding, so they should fit half of the L2
    // cache.
    const std::int64_t waiting = own_cache / 2 / (4 * w.slice);
    w.panel = std::min(w.panel, std::max(width, waiting / width * width));
}

void run_contraction(const ContractionWork& w, const Pointers& pointers) {
    auto* const workspace = reinterpret_cast<float*>(pointers.workspace);
    float* const shared = workspace + w.bias_floats();
    float* const own = shared + (w.apart() ? 0 : w.panel_floats());
    const float* bias = nullptr;
    if (w.biased) {
        std::copy_n(w.bias.at(pointers), w.n, workspace);
        std::fill(workspace + w.n, shared, 0.0F);
        bias = workspace;
    }
    const auto panel_at = [&](std::int64_t batch, std::int64_t first, float* packed) {
        const std::int64_t last = std::min(w.n, first + w.panel);
        return Panel{batch, first, last, packed, {last - first, w.columns}};
    };
    if (w.apart())
        return parallel(w.threads, [&](int part) {
            float* const scratch = own + part * w.thread_floats();
            const auto [from, to] = share(w.batches(), part, w.threads);
            for (std::int64_t batch = from; batch < to; ++batch)
                for (std::int64_t first = 0; first < w.n; first += w.panel) {
                    const Panel panel =
                        panel_at(batch, first, scratch + w.slice_floats() + w.waiting_floats());
                    pack(w, pointers, panel, 0, 1);
                    rows_of(w, pointers, panel, scratch, bias, 0, 1);
                }
        });
    for (std::int64_t batch = 0; batch < w.batches(); ++batch)
        for (std::int64_t first = 0; first < w.n; first += w.panel) {
            const Panel panel = panel_at(batch, first, shared);
            parallel(w.threads, [&](int part) { pack(w, pointers, panel, part, w.threads); });
            parallel(w.threads, [&](int part) {
                rows_of(w, pointers, panel, own + part * w.thread_floats(), bias, part, w.threads);
            });
        }
}

}  // namespace viridian::execute::cpu
