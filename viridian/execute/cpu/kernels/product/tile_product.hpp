#pragma once
// Computes a convolution, or a product with a constant matrix, on the matrix unit (AMX) in bf16, channels
// last. A matrix is treated as an image one pixel wide. A convolution that is no plain product of rows (1x1,
// stride 1, no padding) reads a padded copy of its image, in which neighbouring taps of a line of the kernel
// are adjacent. With a vertical stride s, the copy groups the lines by their number modulo s, so that the
// lines which one tap reads lie together.
#include <vector>

#include "viridian/execute/cpu/kernels/convolution/convolution.hpp"
#include "viridian/execute/cpu/simd/bf16/tiles.hpp"
#include "viridian/execute/cpu/simd/convolution/fused.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"

namespace viridian::execute::cpu {

// Returns whether bf16 is allowed and oneDNN, too, may use the matrix unit.
[[nodiscard]] bool tiles_run(const Task& task);

// A TileProduct is one convolution or product of this kind.
struct TileProduct {
    std::int64_t images = 1, height = 1, width = 1, channels = 1;  // of the source
    std::int64_t out_height = 1, out_width = 1;
    std::int64_t stride_y = 1, stride_x = 1, dilation_y = 1, pad_y = 0, pad_x = 0;
    std::int64_t sample_y = 1, sample_x = 1;  // strides that the copy does away with
    bool row_major = false;                   // the source is row-major and in f32: an image of few channels
    bool by_channels = false;                 // threads share the columns of the result; otherwise its rows
    bool copies = false;                      // reads a padded copy of the image
    std::int64_t unit = 1;   // channels of a pixel of the copy, or of a source that is read as it is
    std::int64_t pitch = 1;  // pixels of a line of the copy
    std::int64_t taps_y = 1;
    std::int64_t run_length = 1;     // channels of a run: of adjacent taps of one line of the kernel
    std::int64_t block = 2;          // of these are multiplied at once
    std::vector<std::int64_t> runs;  // where each begins, in elements
    simd::Groups groups;
    bool biased = false, narrow = false;
    simd::Fused fused;
    std::size_t source = 0;
    int threads = 1;

    // Sets the members that follow from the others: the copy, and the runs of `taps_x` taps that are
    // `dilation_x` pixels apart.
    void lay_out(std::int64_t taps_x, std::int64_t dilation_x);

    // Returns the number of blocks in all runs.
    [[nodiscard]] std::int64_t blocks() const {
        return static_cast<std::int64_t>(runs.size()) * (run_length / block);
    }
    // Returns the scratch of one run.
    [[nodiscard]] Bytes workspace() const;
    // Returns the weights in the micro-kernel's order, from `weight(output channel, channel, tap)`, taps line
    // by line.
    [[nodiscard]] Packed pack(
        const Task& task, graph::ValueId id, const std::string& how, std::int64_t taps_x,
        const std::function<float(std::int64_t, std::int64_t, std::int64_t)>& weight) const;
    void run(const Pointers& pointers) const;

  private:
    // Returns the lines of the result that are made at once (a slice).
    [[nodiscard]] std::int64_t slice() const;
    // Returns how many lines with one remainder the copy of a slice has.
    [[nodiscard]] std::int64_t plane_lines() const;
    [[nodiscard]] std::int64_t copy_elements() const;
    // Returns how many f32 results of a thread wait for the chain of the epilogue; 0 without one.
    [[nodiscard]] std::int64_t waiting_floats() const;
    struct Slice;
    // Makes one of `parts` shares of a copy of `lines` lines, which begins `first` padded lines into the
    // image.
    void copy(const std::byte* image, std::uint16_t* to, std::int64_t first, std::int64_t lines,
              std::int64_t part, std::int64_t parts) const;
    // Multiplies the groups [group, end) of columns for a slice.
    void multiply(const Pointers& pointers, const Slice& slice, std::int64_t group, std::int64_t end,
                  float* waiting) const;
    // Applies the chain to the results of these groups that wait.
    void finish(const Pointers& pointers, const Slice& slice, std::int64_t group, std::int64_t end,
                float* waiting) const;
};

}  // namespace viridian::execute::cpu
