#pragma once
// Computes how much memory each rank of a schedule needs, for weights and activations. Activations are held
// from a forward to its backward; if the schedule has weight units, a part is held until the weight unit.
// The result depends on the order of each rank, not on times.
#include <vector>

#include "viridian/pipeline/profile/profile.hpp"
#include "viridian/pipeline/schedule.hpp"

namespace viridian::pipeline {

struct RankMemory {
    Bytes weights;  // of all stages on the rank
    // Activations held after each unit of the rank, in its order: after the start of a forward, after the end
    // of any other unit.
    std::vector<Bytes> after;
    Bytes peak;              // weights included
    Bytes capacity;          // 0: unlimited
    int most_in_flight = 0;  // micro-batches whose activations are held at once
};
// Returns the memory of each rank of `schedule`, whose stages are those of `profile`.
[[nodiscard]] std::vector<RankMemory> memory_of(const Schedule& schedule, const Profile& profile);

// Checks that the peak of every rank fits its capacity. Errors: limit_exceeded, naming the first rank whose
// peak does not fit.
[[nodiscard]] Result<void> check_memory(const std::vector<RankMemory>& ranks);

}  // namespace viridian::pipeline
