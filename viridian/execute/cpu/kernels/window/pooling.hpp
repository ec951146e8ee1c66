#pragma once
// Reads a pooling node into plain numbers, from which all pooling kernels start.
#include <optional>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

struct PoolingShape {
    graph::Dims source, result;
    graph::Dims kernel, strides, dilations, pads_begin,
        pads_end;  // dilations from 1; pads_end fits the result
    bool maximum = true;
    bool count_padding = false;  // averages divide by the whole window
};

// Returns nothing unless the head of the region is an f32 MaxPool (without indices), AveragePool, a global
// form of them, or the mean over all spatial axes.
[[nodiscard]] std::optional<PoolingShape> pooling_shape(const Task& task);

}  // namespace viridian::execute::cpu
