#pragma once
// Finds the tensors of a network that training changes, and makes them states.
#include <string>
#include <vector>

#include "viridian/graph/graph.hpp"

namespace viridian::gradient {

// A Parameter is a trained tensor of the forward network.
struct Parameter {
    graph::ValueId value = graph::ValueId::none;
    std::string name;
    bool trained = true;  // false: frozen by the user's patterns
};

// Patterns choose parameters by name: `*` stands for any characters, `?` for one. A later pattern overrides
// an earlier one.
struct Choice {
    std::string pattern;
    bool train = true;
};

// Returns the constants of floating type that a layer reads as its weight, bias, scale or table, directly or
// through operators that only move elements; and those of at least one axis and more than one element that an
// addition or a multiplication broadcasts. Constants that hold nothing but zeros and very negative numbers
// are masks, and those of one element are settings: neither is a parameter. The order is that of first use.
// Errors: missing_entry if a pattern of `choices` matches no parameter, with the names that there are.
[[nodiscard]] Result<std::vector<Parameter>> find_parameters(const graph::Graph& graph,
                                                             const std::vector<Choice>& choices = {});

// Returns whether `name` matches `pattern`.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

}  // namespace viridian::gradient
