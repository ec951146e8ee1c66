#pragma once
// Says in the metadata of a training step how it was made, so that a file can be told from another one.
#include "viridian/gradient/step.hpp"

namespace viridian::gradient {

inline constexpr std::string_view training_key = "viridian.training";  // of the graph's metadata

// Returns the text for `training_key`, one JSON object: the loss and the optimiser with the options that they
// read, the norm to which gradients are clipped, the weight decay of each trained parameter, the frozen ones,
// the parts of stacked states, and the structural hash of the forward network, which checkpoints hold too.
// `step` is what `options` made of `forward`. It reads all weights once, for the hash.
[[nodiscard]] std::string training_metadata(const graph::Graph& forward, const StepOptions& options,
                                            const Step& step);

}  // namespace viridian::gradient
