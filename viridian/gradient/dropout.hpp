#pragma once
// expand_dropouts() writes each Dropout in training mode with counter-based random numbers, so that a
// training step is a function of its inputs: y = x · mask / (1 − ratio), where the mask is that of
// viridian.DropoutMask (graph/operators/training/dropout_mask.hpp).
#include "viridian/graph/graph.hpp"

namespace viridian::gradient {

// MaskInputs are the values of the graph from which all its masks follow, i64 scalars: the seed of the run,
// the number of the training step, and the number of the batch's first sample, which differs between the
// micro-batches and replicas of a training step. Axis 0 of the tensor that is dropped counts samples.
struct MaskInputs {
    graph::ValueId seed, step, first_sample;
};

// Replaces the Dropout `id`, which is in training mode, by a DropoutMask of the stream `stream`, a
// multiplication and a Where. Readers of its outputs, the mask among them, read the new values, which keep
// their names and the node's origin. The types of `graph` are inferred. Errors: unsupported (the training
// mode is not a constant).
[[nodiscard]] Result<void> expand_dropout(graph::Graph& graph, graph::NodeId id, const MaskInputs& inputs,
                                          std::int64_t stream);

// Calls expand_dropout() for every Dropout of `graph` in training mode and returns how many there were. Their
// streams are 0, 1, 2, … in the order of the nodes' ids. Dropouts outside training mode stay; rewrites remove
// them. Errors: unsupported (a training mode is not a constant; a Dropout in training mode stands in the body
// of an If, Loop or Scan).
[[nodiscard]] Result<std::int64_t> expand_dropouts(graph::Graph& graph, const MaskInputs& inputs);

}  // namespace viridian::gradient
