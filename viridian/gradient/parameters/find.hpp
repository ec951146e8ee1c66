#pragma once
// Finds the tensors of a network that training changes, and makes them states.
#include <string>
#include <vector>

#include "viridian/gradient/parameters/pattern.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::gradient {

// A Parameter is a trained tensor of the forward network.
struct Parameter {
    graph::ValueId value = graph::ValueId::none;
    std::string name;
    bool trained = true;  // false: frozen by the user's patterns
};

// Returns the constants of floating type that a layer reads as its weight, bias, scale or table, directly or
// through operators that only move elements; and those of at least one axis and more than one element that an
// addition or a multiplication broadcasts. Constants that hold nothing but zeros and very negative numbers
// are masks, and those of one element are settings, unless one is added to a product of one feature, as its
// bias: neither is a parameter. The order is that of first use.
// `rules` say which of them are trained (pattern.hpp). Errors: those of trained(); unsupported (a training
// step, or a network without parameters).
[[nodiscard]] Result<std::vector<Parameter>> find_parameters(const graph::Graph& graph,
                                                             std::span<const TrainRule> rules = {});

}  // namespace viridian::gradient
