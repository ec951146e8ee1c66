#include "viridian/profile/interleaved.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>

#include "viridian/execute/step_timer.hpp"

namespace viridian::profile {
namespace {

// A value, and the core-to-core latencies in seconds that were measured before and after it.
template <class Value>
struct Observed {
    Value value;
    double before = 0, after = 0;
};

double total(const execute::TimedRun& pass) {
    return std::accumulate(pass.steps.begin(), pass.steps.end(), 0.0);
}

// Means of the steps over the middle half of the timed runs by their sums: they add up to what is usual of a
// sum, as the steps' medians would not. Disturbed runs are left out if a few others remain.
std::vector<Seconds> middle_steps(std::vector<execute::TimedRun> timed_runs) {
    constexpr std::ptrdiff_t few = 7;
    const auto disturbed =
        std::ranges::partition(timed_runs, [](const execute::TimedRun& one) { return one.undisturbed; });
    if (disturbed.begin() - timed_runs.begin() >= few) timed_runs.erase(disturbed.begin(), disturbed.end());
    std::ranges::sort(timed_runs, {}, total);
    const std::size_t skip = timed_runs.size() / 4;
    const std::span middle = std::span(timed_runs).subspan(skip, timed_runs.size() - 2 * skip);
    std::vector<Seconds> steps(timed_runs.front().steps.size());
    for (const execute::TimedRun& pass : middle)
        for (std::size_t s = 0; s < steps.size(); ++s)
            steps[s] += Seconds(pass.steps[s] / static_cast<double>(middle.size()));
    return steps;
}

class Interleaving {
  public:
    Interleaving(execute::Device& device, std::vector<InterleavedPlan>& plans,
                 const InterleavedProtocol& protocol)
        : device_(device), plans_(plans), protocol_(protocol), slices_(plans.size()), steps_(plans.size()) {}

    Result<void> measure() {
        std::vector<std::unique_ptr<execute::StepTimer>> timers;
        for (const InterleavedPlan& plan : plans_) {
            VIRIDIAN_TRY(timers.emplace_back(), device_.make_step_timer(*plan.graph, *plan.plan));
        }
        for (InterleavedPlan& plan : plans_)
            for (int i = 0; i < protocol_.runs.warm_up; ++i)
                VIRIDIAN_TRY(run_on(*plan.subject.executable, plan.subject.inputs, plan.subject.outputs));
        latency_ = measure_latency();
        const int rounds = protocol_.runs.rounds;
        usual_ = protocol_.latency.value;
        for (int round = 0; round < rounds || (round < 3 * rounds && !enough(rounds)); ++round)
            for (std::size_t p = 0; p < plans_.size(); ++p) {
                const Seconds per_slice = protocol_.runs.per_slice;
                VIRIDIAN_TRY(TimeSlice slice, time_slice(plans_[p].subject, per_slice, per_slice));
                note(slices_[p], std::move(slice));
                if (round % protocol_.steps_every != 0) continue;
                VIRIDIAN_TRY(std::vector<execute::TimedRun> timed_runs, time_steps(*timers[p]));
                note(steps_[p], std::move(timed_runs));
            }
        if (!enough(rounds)) usual_ = 0;
        return {};
    }

    [[nodiscard]] std::vector<InterleavedResult> results() const {
        std::vector<TimeSlice> slices;
        for (const auto& list : slices_) {
            TimeSlice& all = slices.emplace_back();
            for (const TimeSlice& slice : usual(list)) all.add(slice);
        }
        std::vector<InterleavedResult> results;
        for (const Summary& ran : summarize_slices(slices)) {
            std::vector<execute::TimedRun> all;
            for (auto& some : usual(steps_[results.size()])) std::ranges::move(some, std::back_inserter(all));
            const double lost = slices[results.size()].lost_share();
            results.push_back({ran, lost, middle_steps(std::move(all)), Seconds(usual_latency())});
        }
        return results;
    }

  private:
    // Takes as long as a slice of runs. The first pass meets the caches as another plan left them
    // (time_slice).
    [[nodiscard]] Result<std::vector<execute::TimedRun>> time_steps(execute::StepTimer& steps) const {
        using Clock = std::chrono::steady_clock;
        VIRIDIAN_TRY(execute::TimedRun first, steps.run());
        std::vector<execute::TimedRun> timed_runs;
        if (total(first) >= protocol_.runs.per_slice.value) timed_runs.push_back(std::move(first));
        const auto begin = Clock::now();
        while (timed_runs.size() < 2 ||
               std::chrono::duration<double>(Clock::now() - begin).count() < protocol_.runs.per_slice.value) {
            VIRIDIAN_TRY(timed_runs.emplace_back(), steps.run());
        }
        return timed_runs;
    }

    double measure_latency() {
        const double latency = device_.core_to_core_latency().value;
        if (latency > 0) latencies_.push_back(latency);
        return latency;
    }

    template <class Value>
    void note(std::vector<Observed<Value>>& list, Value value) {
        const double before = latency_;
        latency_ = measure_latency();
        list.push_back({std::move(value), before, latency_});
    }

    // Between core complexes of one socket it takes about four times as long as inside one. Zero is unusual
    // if the device can tell the latency at all: other processes then held a thread up for milliseconds.
    [[nodiscard]] bool is_usual(double latency) const {
        const double usual = usual_latency();
        return usual == 0 || (usual <= 2 * latency && latency <= 2 * usual);
    }

    [[nodiscard]] double usual_latency() const {
        if (usual_ > 0) return usual_;
        return latencies_.empty() ? 0 : summarize(latencies_).median;
    }

    // Everything, if nothing was timed at the usual latency.
    template <class Value>
    [[nodiscard]] std::vector<Value> usual(const std::vector<Observed<Value>>& list) const {
        std::vector<Value> some, all;
        for (const Observed<Value>& one : list) {
            all.push_back(one.value);
            if (is_usual(one.before) && is_usual(one.after)) some.push_back(one.value);
        }
        return some.empty() ? all : some;
    }

    [[nodiscard]] bool enough(int rounds) const {
        const auto few = [&](const auto& list, int every) {
            const auto count = std::ranges::count_if(
                list, [&](const auto& one) { return is_usual(one.before) && is_usual(one.after); });
            return 3 * every * count < rounds;
        };
        return std::ranges::none_of(slices_, [&](const auto& list) { return few(list, 1); }) &&
               std::ranges::none_of(steps_,
                                    [&](const auto& list) { return few(list, protocol_.steps_every); });
    }

    execute::Device& device_;
    std::vector<InterleavedPlan>& plans_;
    const InterleavedProtocol& protocol_;
    std::vector<std::vector<Observed<TimeSlice>>> slices_;  // of each plan
    std::vector<std::vector<Observed<std::vector<execute::TimedRun>>>> steps_;
    std::vector<double> latencies_;  // those that are known
    double usual_ = 0;               // the one that is asked for; zero: the median of those
    double latency_ = 0;
};

}  // namespace

Seconds InterleavedResult::kernels() const {
    Seconds sum;
    for (const Seconds step : steps) sum += step;
    return sum;
}

Result<std::vector<InterleavedResult>> measure_interleaved(execute::Device& device,
                                                           std::vector<InterleavedPlan>& plans,
                                                           const InterleavedProtocol& protocol) {
    Interleaving interleaving(device, plans, protocol);
    VIRIDIAN_TRY(interleaving.measure());
    return interleaving.results();
}

}  // namespace viridian::profile
