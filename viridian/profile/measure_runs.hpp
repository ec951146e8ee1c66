#pragma once
// End-to-end times of several executables in one run: interleaved, so that the machine's moods meet all of
// them.
#include "viridian/base/statistics.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::profile {

struct Contestant {
    execute::Executable* executable;
    std::vector<graph::Tensor> inputs;
    std::vector<graph::Tensor> outputs;  // scratch of the right types
};

struct RunProtocol {
    int warm_up = 2;  // runs of each before the first round
    int rounds = 9;
    Seconds per_turn{0.05};  // each contestant runs at least this long, and twice, per round
};

// Seconds of each run in one turn. The first run meets the caches as somebody else left them, and is not
// counted.
[[nodiscard]] Result<std::vector<double>> time_turn(Contestant& contestant, Seconds at_least);

// Seconds per run of each contestant: over the runs during which no thread lost its processor to something
// else, where all contestants have a few of them; else over all.
[[nodiscard]] Result<std::vector<Summary>> measure_runs(std::vector<Contestant>& contestants,
                                                        const RunProtocol& protocol);

}  // namespace viridian::profile
