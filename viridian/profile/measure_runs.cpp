#include "viridian/profile/measure_runs.hpp"

#include <chrono>

namespace viridian::profile {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Result<std::vector<Summary>> measure_runs(std::vector<Contestant>& contestants, const RunProtocol& protocol) {
    std::vector<std::vector<double>> times(contestants.size());
    for (Contestant& contestant : contestants)
        for (int i = 0; i < protocol.warm_up; ++i)
            VIRIDIAN_TRY(contestant.executable->run(contestant.inputs, contestant.outputs));
    for (int round = 0; round < protocol.rounds; ++round)
        for (std::size_t c = 0; c < contestants.size(); ++c) {
            Contestant& contestant = contestants[c];
            // The first run of a turn meets the caches as the other contestant left them, and is not counted.
            VIRIDIAN_TRY(contestant.executable->run(contestant.inputs, contestant.outputs));
            const auto turn = Clock::now();
            int runs = 0;
            while (runs < 2 || seconds_since(turn) < protocol.per_turn.value) {
                const auto start = Clock::now();
                VIRIDIAN_TRY(contestant.executable->run(contestant.inputs, contestant.outputs));
                times[c].push_back(seconds_since(start));
                ++runs;
            }
        }
    std::vector<Summary> summaries;
    for (auto& list : times) summaries.push_back(summarize(std::move(list)));
    return summaries;
}

}  // namespace viridian::profile
