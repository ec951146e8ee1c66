#include "viridian/profile/measure_runs.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "viridian/base/system/disturbance.hpp"

namespace viridian::profile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t few = 7;  // undisturbed runs

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

void TimeSlice::add(const TimeSlice& more) {
    undisturbed.insert(undisturbed.end(), more.undisturbed.begin(), more.undisturbed.end());
    disturbed.insert(disturbed.end(), more.disturbed.begin(), more.disturbed.end());
}

std::vector<double> TimeSlice::all() const {
    std::vector<double> both = undisturbed;
    both.insert(both.end(), disturbed.begin(), disturbed.end());
    return both;
}

double TimeSlice::lost_share() const {
    if (disturbed.empty()) return 0;
    const double usual = undisturbed.empty() ? std::ranges::min(disturbed) : summarize(undisturbed).median;
    double lost = 0;
    for (const double seconds : disturbed) lost += std::max(0.0, seconds - usual);
    const std::vector<double> runs = all();
    return lost / std::accumulate(runs.begin(), runs.end(), 0.0);
}

Result<TimeSlice> time_slice(Subject& subject, Seconds at_least, Seconds alone) {
    const auto run_into = [&](TimeSlice& slice) -> Result<double> {
        const Disturbance disturbance;
        const auto start = Clock::now();
        VIRIDIAN_TRY(run_on(*subject.executable, subject.inputs, subject.outputs));
        const double seconds = seconds_since(start);
        (disturbance.none(seconds) ? slice.undisturbed : slice.disturbed).push_back(seconds);
        return seconds;
    };
    TimeSlice first;
    VIRIDIAN_TRY(const double once, run_into(first));
    if (once >= alone.value) return first;
    TimeSlice times;
    const auto begin = Clock::now();
    while (times.undisturbed.size() + times.disturbed.size() < 2 || seconds_since(begin) < at_least.value)
        VIRIDIAN_TRY(run_into(times));
    return times;
}

std::vector<Summary> summarize_slices(const std::vector<TimeSlice>& subjects) {
    const bool undisturbed =
        std::ranges::all_of(subjects, [](const TimeSlice& one) { return one.undisturbed.size() >= few; });
    std::vector<Summary> summaries;
    for (const TimeSlice& one : subjects)
        summaries.push_back(summarize(undisturbed ? one.undisturbed : one.all()));
    return summaries;
}

Result<std::vector<Summary>> measure_runs(std::vector<Subject>& subjects, const RunProtocol& protocol) {
    std::vector<TimeSlice> times(subjects.size());
    for (Subject& subject : subjects)
        for (int i = 0; i < protocol.warm_up; ++i)
            VIRIDIAN_TRY(run_on(*subject.executable, subject.inputs, subject.outputs));
    for (int round = 0; round < protocol.rounds; ++round)
        for (std::size_t c = 0; c < subjects.size(); ++c) {
            VIRIDIAN_TRY(const TimeSlice slice, time_slice(subjects[c], protocol.per_slice));
            times[c].add(slice);
        }
    return summarize_slices(times);
}

}  // namespace viridian::profile
