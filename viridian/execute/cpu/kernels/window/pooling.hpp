#pragma once
// Reads a pooling node into plain numbers, from which all pooling kernels start.
#include <optional>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// A PoolingShape holds the sizes and attributes of a pool.
struct PoolingShape {
    graph::Dims source, result;
    graph::Dims kernel, strides, dilations;  // dilation 1: no gaps
    graph::Dims pads_begin, pads_end;        // pads_end is what the last window needs, and may be negative
    bool maximum = true;
    bool count_padding = false;  // averages divide by the size of the whole window
};

// Returns nothing unless the head of the region is an f32 MaxPool (without indices), AveragePool,
// GlobalMaxPool, GlobalAveragePool, or a ReduceMean over all spatial axes. Also returns nothing for empty
// tensors, for windows that lie in the padding alone, and for averages that count padding if a window reaches
// beyond the declared padding (ceil_mode).
[[nodiscard]] std::optional<PoolingShape> pooling_shape(const Task& task);

}  // namespace viridian::execute::cpu
