#include "viridian/profile/measure_runs.hpp"

#include <chrono>

namespace viridian::profile {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Result<std::vector<double>> time_turn(Contestant& contestant, Seconds at_least) {
    VIRIDIAN_TRY(contestant.executable->run(contestant.inputs, contestant.outputs));
    std::vector<double> times;
    const auto turn = Clock::now();
    while (times.size() < 2 || seconds_since(turn) < at_least.value) {
        const auto start = Clock::now();
        VIRIDIAN_TRY(contestant.executable->run(contestant.inputs, contestant.outputs));
        times.push_back(seconds_since(start));
    }
    return times;
}

Result<std::vector<Summary>> measure_runs(std::vector<Contestant>& contestants, const RunProtocol& protocol) {
    std::vector<std::vector<double>> times(contestants.size());
    for (Contestant& contestant : contestants)
        for (int i = 0; i < protocol.warm_up; ++i)
            VIRIDIAN_TRY(contestant.executable->run(contestant.inputs, contestant.outputs));
    for (int round = 0; round < protocol.rounds; ++round)
        for (std::size_t c = 0; c < contestants.size(); ++c) {
            VIRIDIAN_TRY(const std::vector<double> turn, time_turn(contestants[c], protocol.per_turn));
            times[c].insert(times[c].end(), turn.begin(), turn.end());
        }
    std::vector<Summary> summaries;
    for (auto& list : times) summaries.push_back(summarize(std::move(list)));
    return summaries;
}

}  // namespace viridian::profile
