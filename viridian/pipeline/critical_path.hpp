#pragma once
// Finds the units that determine the time of an iteration, by ENVPIPE's walk back through the pipeline and by
// slack.
#include "viridian/pipeline/network.hpp"

namespace viridian::pipeline {

// Returns ENVPIPE's critical path (Algorithm 2, §4.4), last unit first. `duration` is per unit, and `timing`
// is `evaluate`'s result for it. The function walks from the last unit back to a first
// one: to the unit before on the same rank if the slack before the present unit is smaller than its
// dependency delay, and to the unit whose data it needs otherwise.
[[nodiscard]] std::vector<int> walk_back(const Network& network, std::span<const Nanoseconds> duration,
                                         const Timing& timing);

// Returns for each unit how much longer it could take by itself without delaying the end. It is 0 for units
// on a critical path.
[[nodiscard]] std::vector<Nanoseconds> slack(const Network& network, std::span<const Nanoseconds> duration,
                                             const Timing& timing);

// Returns 1 for each unit on the outer envelope of a one-stage-per-rank pipeline, otherwise 0 (ENVPIPE §4.3).
// The envelope consists of every unit of the last stage, and on every stage of the first forward, the
// backward and weight unit of the last micro-batch, and the all-reduce.
[[nodiscard]] std::vector<std::uint8_t> envelope(const Schedule& schedule, const Network& network);

}  // namespace viridian::pipeline
