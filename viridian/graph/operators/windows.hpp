#pragma once
// Sliding windows, shared by convolutions and pools: kernel, strides, dilations, pads and auto_pad of a node.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// Row-major cells of a box.
struct Grid {
    explicit Grid(Dims extents);
    [[nodiscard]] Dims position(std::int64_t cell) const;
    Dims extents;
    std::int64_t count = 1;
};

struct Windows {
    Shape kernel;
    Dims strides, dilations, pads_begin, pads_end;
    std::string auto_pad;  // NOTSET, VALID, SAME_UPPER, SAME_LOWER
    bool ceil_mode = false;

    // Reads the node's attributes, ONNX's defaults applied. Errors: malformed for wrong lengths or signs.
    static Result<Windows> of(const Node& node, Shape kernel);

    // Output extent for an input extent along a spatial axis; run-time in, run-time out. Errors: mismatch
    // when the window does not fit.
    [[nodiscard]] Result<Dimension> output(std::size_t axis, const Dimension& input) const;
    // Cells of padding before the first element, auto_pad resolved.
    [[nodiscard]] std::int64_t begin(std::size_t axis, std::int64_t input, std::int64_t output) const;
    // For every (output cell, kernel cell): the input cell, or −1 in the padding.
    [[nodiscard]] std::vector<std::int64_t> cells(const Grid& from, const Grid& to,
                                                  const Grid& kernel_grid) const;
};

}  // namespace viridian::graph
