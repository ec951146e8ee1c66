#pragma once
// Appends to a graph the nodes that compute gradients, by reverse-mode differentiation (Griewank and Walther,
// "Evaluating Derivatives", 2008, chapter 3).
#include <span>

#include "viridian/graph/graph.hpp"

namespace viridian::gradient {

// A Seed says that the gradient of the loss with respect to `value` is `gradient`, a value of the same type.
struct Seed {
    graph::ValueId value = graph::ValueId::none;
    graph::ValueId gradient = graph::ValueId::none;
};

// Appends the gradients of Σ ⟨seed.gradient, seed.value⟩ with respect to each value of `of`, and returns them
// in that order; `none` for a value on which no seed depends. No gradient flows through the values of
// `stops`. All extents are known numbers. Several contributions to one gradient are added by one Sum, whose
// inputs are ordered from the last reader of the value to the first, so that the rounding of the sum is
// defined. Nodes that have a body and no rule are replaced by their bodies. Errors: unsupported, one error
// that lists every node that cannot be differentiated, with the reason, also those before another one;
// mismatch if a seed has another type than its value.
[[nodiscard]] Result<std::vector<graph::ValueId>> differentiate(graph::Graph& graph,
                                                                std::span<const graph::ValueId> of,
                                                                std::span<const Seed> seeds,
                                                                std::span<const graph::ValueId> stops = {});

}  // namespace viridian::gradient
