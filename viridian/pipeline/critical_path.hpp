#pragma once
// Which units decide the time: by ENVPIPE's walk back through the pipeline, and by true slack.
#include "viridian/pipeline/network.hpp"

namespace viridian::pipeline {

// ENVPIPE Algorithm 2 (§4.4): from the last unit back to a first one, to the unit before on the same rank
// where the slack before the cursor is smaller than its dependency delay, to the unit whose data it needs
// otherwise. One path, last unit first.
[[nodiscard]] std::vector<int> walk_back(const Network& network, std::span<const Nanoseconds> duration,
                                         const Timing& timing);

// How much longer each unit could take, alone, with the end unchanged. 0: on some critical path.
[[nodiscard]] std::vector<Nanoseconds> slack(const Network& network, std::span<const Nanoseconds> duration,
                                             const Timing& timing);

// The outer envelope of a one-stage-per-rank pipeline (ENVPIPE §4.3): every unit of the last stage, the first
// forward and the last backward of every stage. 1 = on it.
[[nodiscard]] std::vector<std::uint8_t> envelope(const Schedule& schedule, const Network& network);

}  // namespace viridian::pipeline
