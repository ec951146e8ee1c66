#pragma once
// Convolution by minimal filtering on nChw16c: transform the sources of a batch of tiles, one product per
// component, transform back with bias, residual and clip.
#include "viridian/execute/cpu/simd/brain_filter.hpp"
#include "viridian/execute/cpu/simd/fused.hpp"
#include "viridian/execute/cpu/simd/weights.hpp"

namespace viridian::execute::cpu {

struct Filtering {
    int m = 4;  // results of a tile along each side, or along the kernel's line
    std::optional<simd::LineTransform> line;
    std::optional<simd::BrainFilter> brain;         // sources and products in bf16
    bool narrow = false;                            // results too
    std::int64_t tile_y, tile_x, reach_y, reach_x;  // results and sources of a tile
    std::int64_t images, channels, height, width, out_height, out_width, pad_y, pad_x;
    std::int64_t tiles_x, tiles_y;  // of an image
    std::int64_t batch;             // tiles at once
    // Each thread makes some output channels of all tiles, so that each weight is read by one thread only;
    // else each its own tiles.
    bool by_channels = false;
    simd::Groups groups;
    bool biased = false;
    simd::Fused fused;
    std::size_t source = 0;
    int threads = 1;

    [[nodiscard]] std::int64_t components() const { return reach_y * reach_x; }
    [[nodiscard]] std::int64_t source_blocks() const { return (channels + 15) / 16; }
    [[nodiscard]] std::int64_t tiles() const { return images * tiles_x * tiles_y; }
    [[nodiscard]] std::int64_t source_bytes() const { return brain ? 2 : 4; }  // of an element
    // Chooses `batch` so that the transformed sources stay in the second cache.
    void choose_batch();
    [[nodiscard]] Bytes workspace() const;
    void run(const Pointers& pointers) const;
};

}  // namespace viridian::execute::cpu
