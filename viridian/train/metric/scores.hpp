#pragma once
// Reads the scores and labels of a batch place by place, whatever the layout and element type.
#include <functional>
#include <span>

#include "viridian/train/metric/metric.hpp"

namespace viridian::train {

// Calls `use` with the scores of all classes and the label of each place that counts, in the order of the
// labels. The labels are checked before the first call. Errors: those of Metric::add.
[[nodiscard]] Result<void> each_place(const graph::Tensor& outputs, const graph::Tensor& labels,
                                      const Counted& counted,
                                      const std::function<void(std::span<const double>, std::int64_t)>& use);

// Calls `use` with each pair of elements that counts of two tensors of one shape. Errors: those of
// Metric::add.
[[nodiscard]] Result<void> each_pair(const graph::Tensor& outputs, const graph::Tensor& labels,
                                     const Counted& counted, const std::function<void(double, double)>& use);

// Returns whether both shapes are the same, apart from dimensions of 1 at the end.
[[nodiscard]] bool same_places(const graph::Tensor& outputs, const graph::Tensor& labels);

}  // namespace viridian::train
