// Divides a contraction into pieces that fit the caches of this machine.
#include <algorithm>

#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/kernels/product/contraction_work.hpp"
#include "viridian/execute/cpu/simd/bf16/tiles.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
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
// The most entries of K of a pass of the matrix unit, which passes over them again by what the first cache
// holds.
constexpr std::int64_t depth_of_tiles = 2048, depth_of_split = 640;
// Rows of a slice of A in pairs, or of one whose results wait in f32 to be rounded. Other slices take 9/16 of
// the L2 cache, and those of the matrix unit a quarter: every slice reads the whole panel of B.
constexpr std::int64_t rows_in_bf16 = 112;
// Slices of a panel for each thread, if m allows it: threads take one after the other, so that all end at
// about the same time. On the matrix unit every slice takes long to read the panel.
constexpr std::int64_t slices_of_a_thread = 4, slices_of_tiles = 2;
constexpr std::int64_t least_slice = 56;
// Panels of B for each thread if all threads share the whole of A, and the columns of a panel. Every panel
// reads all of A from the L3 cache.
constexpr std::int64_t panels_of_a_thread = 4, least_columns = 64, most_columns = 128;
// Sizes of the L3 and L2 caches if the machine does not tell them.
constexpr std::int64_t usual_last_cache = 8 << 20, usual_own_cache = 512 << 10;

}  // namespace

std::int64_t ContractionWork::passes() const { return (k + deepest - 1) / deepest; }

std::pair<std::int64_t, std::int64_t> ContractionWork::depth(std::int64_t pass) const {
    const std::int64_t whole = tiles ? simd::tile_channels : block;
    const auto [first, last] = share((k + whole - 1) / whole, pass, passes());
    return {first * whole, std::min(k, last * whole)};
}

std::int64_t ContractionWork::units(std::int64_t entries) const {
    constexpr std::int64_t whole = simd::tile_channels;
    return tiles ? (entries + whole - 1) / whole * whole / together * (split ? 3 : 1) : entries / together;
}

std::int64_t ContractionWork::tile() const { return tiles ? 2 * simd::tile_rows : simd::tile_pixels(); }

std::int64_t ContractionWork::slices() const { return (m + slice - 1) / slice; }

std::int64_t ContractionWork::panel_floats() const { return (panel + block - 1) / block * block * units(k); }

std::int64_t ContractionWork::slice_in_whole(std::int64_t pass, std::int64_t i) const {
    const auto [first, last] = depth(pass);
    return slices() * (slice * first + pass * block) + i * (slice * (last - first) + block);
}

std::int64_t ContractionWork::shared_floats() const {
    if (!by_columns) return apart() ? 0 : panel_floats();
    const std::int64_t whole = slices() * (slice * k + passes() * block);
    return (whole + block - 1) / block * block;  // panels of B follow, whose lines are those of the caches
}

std::int64_t ContractionWork::slice_floats() const { return slice * (units(deepest) + block); }

void choose_pieces(ContractionWork& w) {
    w.columns = w.together == 2 ? 2 : simd::best_columns();
    const std::int64_t tile = w.tile(), width = w.columns * block;
    const std::int64_t own = this_machine().l2.value, last = this_machine().l3.value;
    const std::int64_t own_cache = own > 0 ? own : usual_own_cache;
    const std::int64_t cache = last > 0 ? last : usual_last_cache;
    const bool in_f32 = w.together == 1 && !w.result.bf16;
    const std::int64_t depth = w.columns == 1                           ? depth_of_one_block
                               : in_f32 && own_cache >= large_own_cache ? depth_in_large
                                                                        : depth_of_two;
    constexpr std::int64_t whole = simd::tile_channels;
    const std::int64_t deepest_tiles = w.split ? depth_of_split : depth_of_tiles;
    w.deepest = w.tiles ? std::min(deepest_tiles, (w.k + whole - 1) / whole * whole) : depth * w.together;
    const std::int64_t rows = w.tiles ? own_cache / 4 / (4 * w.units(w.deepest))
                              : w.result.bf16 || w.together == 2
                                  ? rows_in_bf16
                                  : own_cache * 9 / 16 / (4 * w.deepest / w.together);
    const std::int64_t narrow =
        std::clamp(w.n / (panels_of_a_thread * w.threads) / width * width, least_columns, most_columns);
    const std::int64_t half = cache / 2;
    w.by_columns = in_f32 && w.columns == 1 && w.threads > 1 && !w.apart() && w.m < w.n &&
                   w.n >= 2 * w.threads * narrow && 4 * w.k * (w.m + w.threads * narrow) <= half;
    const std::int64_t shares = w.threads == 1 || w.apart() ? 1
                                : w.by_columns              ? (2 * w.threads + w.passes() - 1) / w.passes()
                                : w.tiles                   ? slices_of_tiles * w.threads
                                                            : slices_of_a_thread * w.threads;
    const std::int64_t most = std::max(least_slice, (w.m + shares - 1) / shares);
    w.slice = std::clamp<std::int64_t>(std::min(rows / tile, (most + tile - 1) / tile), 1,
                                       (w.m + tile - 1) / tile) *
              tile;
    const std::int64_t room = half / (w.apart() ? w.threads : 1);
    const std::int64_t panels = (w.units(w.k) * w.n * 4 + room - 1) / room;
    w.panel = w.by_columns ? narrow : ((w.n + panels - 1) / panels + width - 1) / width * width;
    if (!w.waits()) return;
    // Every pass reads and writes the f32 results that wait for rounding, so they should fit half of the L2
    // cache.
    const std::int64_t waiting = own_cache / 2 / (4 * w.slice);
    w.panel = std::min(w.panel, std::max(width, waiting / width * width));
}

}  // namespace viridian::execute::cpu
