#include "viridian/profile/measure_runs.hpp"

#include <algorithm>
#include <chrono>

#include "viridian/base/preemptions.hpp"

namespace viridian::profile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t few = 7;  // calm runs

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

void Turn::add(const Turn& more) {
    calm.insert(calm.end(), more.calm.begin(), more.calm.end());
    disturbed.insert(disturbed.end(), more.disturbed.begin(), more.disturbed.end());
}

std::vector<double> Turn::all() const {
    std::vector<double> both = calm;
    both.insert(both.end(), disturbed.begin(), disturbed.end());
    return both;
}

Result<Turn> time_turn(Contestant& contestant, Seconds at_least, Seconds alone) {
    const auto run_into = [&](Turn& turn) -> Result<double> {
        const std::int64_t before = preemptions();
        const auto start = Clock::now();
        VIRIDIAN_TRY(contestant.executable->run(contestant.inputs, contestant.outputs));
        const double seconds = seconds_since(start);
        (preemptions() == before ? turn.calm : turn.disturbed).push_back(seconds);
        return seconds;
    };
    Turn first;
    VIRIDIAN_TRY(const double once, run_into(first));
    if (once >= alone.value) return first;
    Turn times;
    const auto begin = Clock::now();
    while (times.calm.size() + times.disturbed.size() < 2 || seconds_since(begin) < at_least.value)
        VIRIDIAN_TRY(run_into(times));
    return times;
}

std::vector<Summary> summarize_turns(const std::vector<Turn>& contestants) {
    const bool calm =
        std::ranges::all_of(contestants, [](const Turn& one) { return one.calm.size() >= few; });
    std::vector<Summary> summaries;
    for (const Turn& one : contestants) summaries.push_back(summarize(calm ? one.calm : one.all()));
    return summaries;
}

Result<std::vector<Summary>> measure_runs(std::vector<Contestant>& contestants, const RunProtocol& protocol) {
    std::vector<Turn> times(contestants.size());
    for (Contestant& contestant : contestants)
        for (int i = 0; i < protocol.warm_up; ++i)
            VIRIDIAN_TRY(contestant.executable->run(contestant.inputs, contestant.outputs));
    for (int round = 0; round < protocol.rounds; ++round)
        for (std::size_t c = 0; c < contestants.size(); ++c) {
            VIRIDIAN_TRY(const Turn turn, time_turn(contestants[c], protocol.per_turn));
            times[c].add(turn);
        }
    return summarize_turns(times);
}

}  // namespace viridian::profile
