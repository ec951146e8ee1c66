#pragma once
// Computes a Winograd convolution on nChw16c (Lavin and Gray, CVPR 2016): transforms the sources of a batch
// of tiles, multiplies component by component, and transforms back with bias, residual and clip.
#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/simd/bf16/winograd_transforms.hpp"
#include "viridian/execute/cpu/simd/convolution/fused.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"

namespace viridian::execute::cpu {

// A WinogradTile names a tile: its image, and the row and column of its first result there.
struct WinogradTile {
    std::int64_t image, y, x;
    // Returns tile `index` if each image has tiles_y × tiles_x tiles of these sizes.
    [[nodiscard]] static WinogradTile at(std::int64_t index, std::int64_t tiles_y, std::int64_t tiles_x,
                                         std::int64_t tile_y, std::int64_t tile_x) {
        const std::int64_t in_image = index % (tiles_x * tiles_y);
        return {index / (tiles_x * tiles_y), in_image / tiles_x * tile_y, in_image % tiles_x * tile_x};
    }
};

// A PixelPlane holds height × width pixels of one block of 16 channels.
template <class T>
struct PixelPlane {
    const T* first;
    std::int64_t height, width;

    // Sets `pixels` to rows × columns pixels from (y0, x0) on, row by row; those outside are `zeroes`.
    void gather(std::int64_t y0, std::int64_t x0, std::int64_t rows, std::int64_t columns, const T* zeroes,
                const T** pixels) const {
        const bool inside = y0 >= 0 && x0 >= 0 && y0 + rows <= height && x0 + columns <= width;
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) {
                const std::int64_t y = y0 + i, x = x0 + j;
                const bool in = inside || (y >= 0 && y < height && x >= 0 && x < width);
                pixels[i * columns + j] = in ? first + (y * width + x) * simd::block : zeroes;
            }
    }
};

// Weights that change from run to run, as in training: a region input [.,.,3,3], of which each run transforms
// the kernel of output channel o and channel c from element o·output_step + c·channel_step on.
struct ChangingWeights {
    std::size_t input = 0;
    std::int64_t output_step = 0, channel_step = 0;
    bool reversed = false;  // the taps in reverse order, as the gradient of a convolution needs them
    Port bias;
};

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
    // Empty if weights and bias are constants; these are then packed as constants 0 and 1.
    std::optional<ChangingWeights> changing;
    simd::Fused fused;
    std::size_t source = 0;
    int threads = 1;

    [[nodiscard]] std::int64_t components() const { return reach_y * reach_x; }
    [[nodiscard]] std::int64_t source_blocks() const { return (channels + 15) / 16; }
    [[nodiscard]] std::int64_t tiles() const { return images * tiles_x * tiles_y; }
    [[nodiscard]] WinogradTile tile_at(std::int64_t index) const {
        return WinogradTile::at(index, tiles_y, tiles_x, tile_y, tile_x);
    }
    [[nodiscard]] std::int64_t source_bytes() const { return bf16 ? 2 : 4; }  // of an element
    // Returns the floats that transformed weights take.
    [[nodiscard]] std::int64_t weight_floats() const {
        return components() * channels * groups.blocks() * 16;
    }
    // Chooses `batch` so that the transformed sources stay in the L2 cache.
    void choose_batch();
    // Returns the scratch of one run.
    [[nodiscard]] Bytes workspace() const;
    void run(const Pointers& pointers) const;
};

}  // namespace viridian::execute::cpu
