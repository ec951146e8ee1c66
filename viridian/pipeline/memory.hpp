#pragma once
// Activation memory of a schedule: kept from a forward to its backward; with weight units a part stays until
// the weight unit. Depends on each rank's order alone, not on times.
#include <vector>

#include "viridian/pipeline/profile.hpp"
#include "viridian/pipeline/schedule.hpp"

namespace viridian::pipeline {

struct RankMemory {
    Bytes weights;  // of all stages on the rank
    std::vector<Bytes>
        after;       // held after the start of a forward or the end of any other unit, in the rank's order
    Bytes peak;      // weights included
    Bytes capacity;  // 0: unlimited
    int most_in_flight = 0;  // micro-batches whose activations are held at once
};
[[nodiscard]] std::vector<RankMemory> memory_of(const Schedule& schedule, const Profile& profile);

// Errors: limit_exceeded, naming the first rank that overflows.
[[nodiscard]] Result<void> check_memory(const std::vector<RankMemory>& ranks);

}  // namespace viridian::pipeline
