#pragma once
// Recognises average pooling, which is linear, for the rules that exchange it with convolutions or write it
// as one.
#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

// Returns whether `node` is a GlobalAveragePool, or an AveragePool with explicit padding, of one output.
[[nodiscard]] bool is_average(const Node& node);

// Returns whether the AveragePool `pool` pads nothing.
[[nodiscard]] bool pads_nothing(const Node& pool);

// Returns whether the average `pool` of a constant plane is that constant, because no window counts padding.
[[nodiscard]] bool keeps_constants(const Node& pool);

// Adds a random GlobalAveragePool or AveragePool of the images `x`, and one that counts its padding if
// `counting`.
ValueId random_average(RandomGraph& g, ValueId x, bool counting);

// Adds a random 1×1 convolution of the images `x` of `channels` channels, with or without bias.
ValueId random_pointwise_convolution(RandomGraph& g, ValueId x, std::int64_t channels, bool bias);

}  // namespace viridian::rewrite
