#pragma once
// Makes the networks that belong to a training step: the one that evaluates, and the one with new weights.
#include <map>
#include <string>

#include "viridian/gradient/step.hpp"

namespace viridian::gradient {

// An Evaluation is a network as it infers, with the names of two outputs: what metrics judge, which is what
// the loss compares, so the logits if the network ends in a Softmax or Sigmoid that the loss contains; and
// the terms of the loss (LossOptions::terms), empty if the network computes its loss itself.
struct Evaluation {
    graph::Graph graph;
    std::string judged;
    std::string terms = {};
};

// Returns `forward` as it infers, with the loss: normalisations use their running statistics, and Dropout
// does nothing. The trained parameters and the statistics of `step` are states of it under the same names,
// which stay as they are, so that they can be set without making the graph anew. Errors: missing_entry if
// `forward` lacks one of them; those of add_loss().
[[nodiscard]] Result<Evaluation> evaluation_of(const graph::Graph& forward, const Step& step,
                                               const LossOptions& loss);

// Replaces the constants named in `weights`. Errors: missing_entry (no such constant), mismatch (a tensor of
// another type).
[[nodiscard]] Result<void> set_weights(graph::Graph& network,
                                       const std::map<std::string, graph::Tensor>& weights);

// Returns `forward` with the constants named in `weights` replaced, as it infers. Errors: those of
// set_weights().
[[nodiscard]] Result<graph::Graph> with_weights(const graph::Graph& forward,
                                                const std::map<std::string, graph::Tensor>& weights);

}  // namespace viridian::gradient
