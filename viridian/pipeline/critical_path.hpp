#pragma once
// Finds the units that determine the time of an iteration, by ENVPIPE's walk back through the pipeline and by
// slack.
#include "viridian/pipeline/network.hpp"

namespace viridian::pipeline {

// ENVPIPE's critical path (Algorithm 2, §4.4), last unit first. It walks from the last unit back to a first
// one: to the unit before on the same rank if the slack before the present unit is smaller than its
// dependency delay, and to the unit whose data it needs otherwise.
[[nodiscard]] std::vector<int> walk_back(const Network& network, std::span<const Nanoseconds> duration,
                                         const Timing& timing);

// How much longer each unit could take by itself without delaying the end; 0 for units on a critical path.
[[nodiscard]] std::vector<Nanoseconds> slack(const Network& network, std::span<const Nanoseconds> duration,
                                             const Timing& timing);

// The outer envelope of a one-stage-per-rank pipeline (ENVPIPE §4.3): every unit of the last stage, the first
// forward and the last backward of every stage. 1 = on it.
[[nodiscard]] std::vector<std::uint8_t> envelope(const Schedule& schedule, const Network& network);

}  // namespace viridian::pipeline
