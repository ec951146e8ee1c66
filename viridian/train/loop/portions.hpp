#pragma once
// Divides the samples of an evaluation into batches.
#include <limits>
#include <vector>

#include "viridian/data/sampler.hpp"

namespace viridian::train {

// A batch of an evaluation: its samples, of which the first `counted` count.
struct Portion {
    data::Draw draw;
    std::int64_t counted = 0;
};

// Divides a subset into batches, in order, and returns the first `most` of them. If `full`, the last one is
// filled up with its last sample.
[[nodiscard]] std::vector<Portion> portions_of(const data::Subset& subset, std::int64_t batch, bool full,
                                               std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace viridian::train
