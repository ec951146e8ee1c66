#pragma once
// A StackedState is a state of a training step that holds several tensors of the network side by side.
#include <string>
#include <vector>

#include "viridian/graph/tensor.hpp"

namespace viridian::gradient {

struct StackedPart {
    std::string name;         // of the tensor in the network, or of its moment
    std::int64_t extent = 0;  // along the axis
};

struct StackedState {
    std::string name;  // of the state: the names of its parts, joined with `+`
    std::int64_t axis = 0;
    std::vector<StackedPart> parts;
};

// Returns the name of a state of these parts.
[[nodiscard]] std::string stacked_name(const std::vector<StackedPart>& parts);

// Returns the tensors side by side along `axis`; they have the same extents along all others, and one type.
[[nodiscard]] graph::Tensor joined(const std::vector<graph::Tensor>& parts, std::int64_t axis);

// Returns copies of the parts of `whole`, the tensor of `state`.
[[nodiscard]] std::vector<graph::Tensor> parted(const StackedState& state, const graph::Tensor& whole);

}  // namespace viridian::gradient
