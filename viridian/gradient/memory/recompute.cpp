#include "viridian/gradient/memory/recompute.hpp"

#include "viridian/gradient/memory/schedule.hpp"

namespace viridian::gradient {

Result<Recomputation> recompute(graph::Graph& step, Bytes most) {
    VIRIDIAN_TRY(Schedule schedule, Schedule::make(step));
    const std::int64_t before = schedule.most_bytes();
    constexpr int most_trials = 32;  // of candidates, which come best first
    bool better = true;
    while (better && schedule.most_bytes() > most.value) {
        better = false;
        int trials = 0;
        for (const Schedule::Candidate& candidate : schedule.candidates()) {
            if (++trials > most_trials) break;
            Schedule trial = schedule.with(candidate);
            if (!trial.better_than(schedule)) continue;
            schedule = std::move(trial);
            better = true;
            break;
        }
    }
    step = schedule.graph_of(step);
    return Recomputation{schedule.repeated(), schedule.repeated_flop(), Bytes(before),
                         Bytes(schedule.most_bytes())};
}

}  // namespace viridian::gradient
