#pragma once
// Computes a Winograd convolution on nChw16c (Lavin and Gray, CVPR 2016): transforms the sources of a batch
// of tiles, multiplies component by component, and transforms back with bias, residual and clip.
#include "viridian/execute/cpu/simd/bf16/winograd_transforms.hpp"
#include "viridian/execute/cpu/simd/convolution/fused.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"

namespace viridian::execute::cpu {

struct WinogradConvolution {
    int m = 4;                                // results of a tile along each side, or along the kernel's line
    std::optional<simd::LineTransform> line;  // of a kernel of one row or column in f32
    std::optional<simd::WinogradBf16> bf16;   // transformed sources and weights are rounded to bf16
    bool narrow = false;                      // results are stored in bf16
    std::int64_t tile_y, tile_x, reach_y, reach_x;  // results and sources of a tile
    std::int64_t images, channels, height, width, out_height, out_width, pad_y, pad_x;
    std::int64_t tiles_x, tiles_y;  // of one image
    std::int64_t batch;             // tiles that are transformed and multiplied together
    // If true, each thread makes some output channels of all tiles, so that only one thread reads each
    // weight. Otherwise each thread makes all channels of its own tiles.
    bool by_channels = false;
    simd::Groups groups;
    bool biased = false;
    simd::Fused fused;
    std::size_t source = 0;
    int threads = 1;

    [[nodiscard]] std::int64_t components() const { return reach_y * reach_x; }
    [[nodiscard]] std::int64_t source_blocks() const { return (channels + 15) / 16; }
    [[nodiscard]] std::int64_t tiles() const { return images * tiles_x * tiles_y; }
    [[nodiscard]] std::int64_t source_bytes() const { return bf16 ? 2 : 4; }  // of an element
    // Chooses `batch` so that the transformed sources stay in the L2 cache.
    void choose_batch();
    // Returns the scratch of one run.
    [[nodiscard]] Bytes workspace() const;
    void run(const Pointers& pointers) const;
};

}  // namespace viridian::execute::cpu
