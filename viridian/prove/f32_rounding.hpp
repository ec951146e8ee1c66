#pragma once
// Tells how far the reference kernels are in f32 from themselves in double precision. Where terms cancel, as
// in the gradients of the first layers of a deep network, every plan in f32 has errors of that size, and none
// is refused because of them (docs/method.md, 4).
#include "viridian/prove/allowed_error.hpp"

namespace viridian::prove {

// The reference kernels accumulate in double precision even in f32, and other kernels do not, so a network of
// right kernels may be off by so many times that error. No network may be off by more than `most_allowed`.
inline constexpr double times_lost = 30, most_allowed = 0.05;

// Returns the relative L2 error that each new state of `original` is allowed: `times_lost` times the largest
// error of the reference kernels in f32 over the sets in `inputs`, as result_errors() measures it
// (training.hpp), and at most `most_allowed`. States of one role are allowed what the worst of them is. A
// weight whose optimiser divides gradients by their size is allowed the most: a ReLU whose input is near zero
// may open or stay closed, which can reverse the update of a whole row. Its moments are compared by
// themselves. Outputs come first in the list and are allowed 0 here: what they show is not to change.
//
// `rewritten` is the graph that is run. The list is empty if it differs from `original` in double precision
// by more than 1e-6 and more than the error in f32. It is also empty if memory does not suffice, or a
// reference kernel is missing. This is slow: it runs three graphs for each set.
[[nodiscard]] std::vector<AllowedError> allowed_in_f32(const graph::Graph& original,
                                                       const graph::Graph& rewritten,
                                                       const std::vector<std::vector<graph::Tensor>>& inputs);

}  // namespace viridian::prove
