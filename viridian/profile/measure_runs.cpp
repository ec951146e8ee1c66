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

struct Times {
    std::vector<double> calm, disturbed;  // disturbed: a thread lost its processor

    void add(const Times& more) {
        calm.insert(calm.end(), more.calm.begin(), more.calm.end());
        disturbed.insert(disturbed.end(), more.disturbed.begin(), more.disturbed.end());
    }
    [[nodiscard]] std::vector<double> all() const {
        std::vector<double> both = calm;
        both.insert(both.end(), disturbed.begin(), disturbed.end());
        return both;
    }
};

Result<Times> turn_of(Contestant& contestant, Seconds at_least) {
    VIRIDIAN_TRY(contestant.executable->run(contestant.inputs, contestant.outputs));
    Times times;
    const auto turn = Clock::now();
    while (times.calm.size() + times.disturbed.size() < 2 || seconds_since(turn) < at_least.value) {
        const std::int64_t before = preemptions();
        const auto start = Clock::now();
        VIRIDIAN_TRY(contestant.executable->run(contestant.inputs, contestant.outputs));
        const double seconds = seconds_since(start);
        (preemptions() == before ? times.calm : times.disturbed).push_back(seconds);
    }
    return times;
}

}  // namespace

Result<std::vector<double>> time_turn(Contestant& contestant, Seconds at_least) {
    VIRIDIAN_TRY(const Times times, turn_of(contestant, at_least));
    return times.all();
}

Result<std::vector<Summary>> measure_runs(std::vector<Contestant>& contestants, const RunProtocol& protocol) {
    std::vector<Times> times(contestants.size());
    for (Contestant& contestant : contestants)
        for (int i = 0; i < protocol.warm_up; ++i)
            VIRIDIAN_TRY(contestant.executable->run(contestant.inputs, contestant.outputs));
    for (int round = 0; round < protocol.rounds; ++round)
        for (std::size_t c = 0; c < contestants.size(); ++c) {
            VIRIDIAN_TRY(const Times turn, turn_of(contestants[c], protocol.per_turn));
            times[c].add(turn);
        }
    const bool calm = std::ranges::all_of(times, [](const Times& one) { return one.calm.size() >= few; });
    std::vector<Summary> summaries;
    for (Times& one : times) summaries.push_back(summarize(calm ? std::move(one.calm) : one.all()));
    return summaries;
}

}  // namespace viridian::profile
