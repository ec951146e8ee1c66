#pragma once
// Reads a Conv node into plain numbers, from which all convolution kernels start.
#include <optional>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// A ConvolutionShape holds the sizes and attributes of a convolution.
struct ConvolutionShape {
    graph::Dims source, weights, result;  // [N,C,spatial…], [M,C/groups,kernel…], [N,M,spatial…]
    std::int64_t groups = 1;
    graph::Dims strides, dilations, pads_begin,
        pads_end;  // dilations from 1; pads_end fits the result exactly
    bool bias = false;
    bool constant_weights = true, constant_bias = true;

    // Returns the number of spatial dimensions.
    [[nodiscard]] std::size_t spatial() const { return source.size() - 2; }
    // Returns whether each output channel reads one input channel of its own.
    [[nodiscard]] bool depthwise() const { return groups > 1 && groups == source[1] && groups == weights[0]; }
};

// Returns nothing unless the head of the region is an f32 Conv of an input with constant weights and bias.
[[nodiscard]] std::optional<ConvolutionShape> convolution_shape(const Task& task);
// Does the same for weights and a bias that may be constants or, as in a training step, inputs of the region.
[[nodiscard]] std::optional<ConvolutionShape> any_convolution_shape(const Task& task);
// Returns the sizes of the convolution whose gradient the region's only node is, a ConvGradInput or a
// ConvGradWeight of f32 inputs, or nothing if it is another node.
[[nodiscard]] std::optional<ConvolutionShape> convolution_gradient_shape(const Task& task);

}  // namespace viridian::execute::cpu
