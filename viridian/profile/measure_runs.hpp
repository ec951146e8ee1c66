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

// Seconds of each run in one turn.
struct Turn {
    std::vector<double> calm,
        disturbed;  // disturbed: meanwhile a thread lost its processor to something else

    void add(const Turn& more);
    [[nodiscard]] std::vector<double> all() const;
};

// The first run meets the caches as somebody else left them, and is not counted; but one that takes as long
// as `alone` is a turn by itself: caches mean little to it.
[[nodiscard]] Result<Turn> time_turn(Contestant& contestant, Seconds at_least, Seconds alone = Seconds(1e30));

// Of each contestant: over its calm runs, where all contestants have a few of them; else over all.
[[nodiscard]] std::vector<Summary> summarize_turns(const std::vector<Turn>& contestants);

// Seconds per run of each contestant.
[[nodiscard]] Result<std::vector<Summary>> measure_runs(std::vector<Contestant>& contestants,
                                                        const RunProtocol& protocol);

}  // namespace viridian::profile
