#pragma once
// Gives a network a new head: a last layer for another number of classes, drawn anew.
#include <string>
#include <vector>

#include "viridian/graph/graph.hpp"

namespace viridian::train {

struct NewHead {
    graph::Graph network;
    std::vector<std::string> parameters;  // weight and bias, under their old names
};

// Returns `network` with a last layer for `classes` classes. The last layer is the Gemm, MatMul or Conv from
// which `output` comes through operators that keep the number of classes, with the bias that is added to it.
// It is drawn from `seed` as PyTorch's layers are. Errors: unsupported (no such layer; a layer whose weight
// is no constant, or read elsewhere too; a network in which the number of classes is fixed after it), and
// those of draw().
[[nodiscard]] Result<NewHead> replace_head(const graph::Graph& network, graph::ValueId output,
                                           std::int64_t classes, std::uint64_t seed);

}  // namespace viridian::train
