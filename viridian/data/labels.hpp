#pragma once
// Counts the labels of a column: how often each class occurs, how many labels of a batch count for the loss,
// and the weights that make rare classes count as much as frequent ones.
#include "viridian/data/dataset.hpp"
#include "viridian/data/sampler.hpp"

namespace viridian::data {

// Checks that `label` is a class or `ignored`, if there is one. `place` numbers the sample in `dataset`.
// Errors: malformed.
[[nodiscard]] Result<void> check_label(const Dataset& dataset, std::size_t column, std::int64_t sample,
                                       std::int64_t label, std::int64_t classes,
                                       std::optional<std::int64_t> ignored);

// Returns how often each of the classes occurs among the samples of `subset`. The labels are read in pieces.
// Errors: mismatch (labels that are not integers), malformed (a label out of range), those of reading.
[[nodiscard]] Result<std::vector<std::int64_t>> label_counts(
    const Dataset& dataset, std::size_t column, const Subset& subset, std::int64_t classes,
    std::optional<std::int64_t> ignored = std::nullopt);

// Returns a weight for each class as f32[classes]: the sum of the counts / (classes that occur × the class's
// count), so that the mean weight over all labels is 1. A class that does not occur has weight 0.
[[nodiscard]] graph::Tensor class_weights(const std::vector<std::int64_t>& counts);

// Returns how many labels of these samples are not `ignored`: the number by which the sum of a batch's losses
// is divided, over all micro-batches and replicas. Errors as above.
[[nodiscard]] Result<std::int64_t> labels_that_count(const Dataset& dataset, std::size_t column,
                                                     SampleList samples, std::int64_t ignored);

}  // namespace viridian::data
