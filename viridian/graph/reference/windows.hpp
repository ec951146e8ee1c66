#pragma once
// Windows describes the sliding windows of a convolution or pool: kernel, strides, dilations and padding.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// A Grid numbers the cells of a box in row-major order.
struct Grid {
    explicit Grid(Dims extents);
    // Returns the coordinates of a cell.
    [[nodiscard]] Dims position(std::int64_t cell) const;
    Dims extents;
    std::int64_t count = 1;
};

struct Windows {
    Shape kernel;
    Dims strides, dilations, pads_begin, pads_end;
    std::string auto_pad;  // NOTSET, VALID, SAME_UPPER, SAME_LOWER
    bool ceil_mode = false;

    // Reads the attributes of `node` with the defaults of ONNX. Errors: malformed (wrong lengths or signs).
    static Result<Windows> of(const Node& node, Shape kernel);

    // Returns the output extent along spatial axis `axis` for the extent `input`; unknown if
    // `input` or the kernel's extent is unknown.
    // Errors: mismatch (the window does not fit).
    [[nodiscard]] Result<Dimension> output(std::size_t axis, const Dimension& input) const;
    // Returns the number of padding cells before the first element, with auto_pad resolved.
    [[nodiscard]] std::int64_t begin(std::size_t axis, std::int64_t input, std::int64_t output) const;
    // Returns, for every cell of the output `to` and every cell of the kernel in turn, the input cell of
    // `from` that the window reads there, or -1 if it lies in the padding. Errors: limit_exceeded (more than
    // 2^22 cells in the kernel, or 2^28 in all: padding may make both large beside a small input).
    [[nodiscard]] Result<std::vector<std::int64_t>> cells(const Grid& from, const Grid& to,
                                                          const Grid& kernel_grid) const;
};

}  // namespace viridian::graph
