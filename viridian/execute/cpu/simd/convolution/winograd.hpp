#pragma once
// Transforms the tiles of Winograd convolutions with 3x3 kernels, F(m×m, 3×3) with m = 2 or 4, on blocks of
// 16 channels (Lavin and Gray, CVPR 2016). A tile of m×m results needs (m+2)×(m+2) sources.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// Transforms one tile of one channel block. `pixels[i·(m+2) + j]` points at the source pixel (16 floats; a
// zero pixel outside the image); component k goes to `to + k·step`.
void winograd_source(int m, const float* const* pixels, float* to, std::int64_t step);

// A WinogradResult says how one tile of one channel block is transformed back.
struct WinogradResult {
    const float* from = nullptr;  // component k at from + k·step
    std::int64_t step = 0;
    float* to = nullptr;          // first pixel of the tile
    const float* add = nullptr;   // residual of that pixel, or null
    const float* bias = nullptr;  // of the block, or null
    std::int64_t row = 0;         // floats between rows of the result
    int height = 0, width = 0;    // of the tile inside the image, at most m
    bool clip = false;
    float low = 0, high = 0;
};
// Transforms a tile back, adds bias and residual, clips if `clip` is set, and stores the results.
void winograd_result(int m, const WinogradResult& result);

// Transforms the kernel `g` (3×3, row-major) to (m+2)×(m+2) components, in double.
void winograd_weights(int m, const float* g, double* components);

// Transforms 16 kernels, for weights that change from run to run. `taps` is [9][16]; component k of all 16
// goes to `to + k·step`.
void winograd_weights_of_block(int m, const float* taps, float* to, std::int64_t step);

// The two transforms of the gradient with respect to the weights g, which is Gᵀ [Σ (A y Aᵀ) ⊙ (Bᵀ d B)] G
// over all tiles, d of the source and y of the gradient of the result (the transpose of the convolution). The
// first transforms one m×m tile y, whose pixels are given as to winograd_source(). The second transforms the
// sums of one output channel and 16 channels, component k at `sums + k·step`, to [9][16] taps.
void winograd_result_gradient(int m, const float* const* pixels, float* to, std::int64_t step);
void winograd_weight_gradient(int m, const float* sums, std::int64_t step, float* taps);

}  // namespace viridian::execute::cpu::simd
