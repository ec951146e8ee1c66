#include "viridian/execute/cpu/timing/wake_latency.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using WakeClock = std::chrono::steady_clock;

// Returns what a job takes in which every worker has to appear.
double seconds_to_meet(int threads) {
    const auto begin = WakeClock::now();
    parallel(threads, [&](int) { barrier(threads); });
    return std::chrono::duration<double>(WakeClock::now() - begin).count();
}

double median_of(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
}

}  // namespace

Seconds wake_latency(Pool& pool) {
    constexpr int jobs = 15;
    constexpr std::chrono::microseconds until_asleep{100};
    const int threads = pool.threads();
    if (threads < 2) return {};
    std::vector<double> asleep, awake;
    const auto measured = with_crew(pool, [&]() -> Result<void> {
        for (int i = 0; i < jobs; ++i) {
            seat().crew->end_rest();
            seat().crew->park_all_but(1);
            for (const auto end = WakeClock::now() + until_asleep; WakeClock::now() < end;) continue;
            seat().crew->park_all_but(threads);
            asleep.push_back(seconds_to_meet(threads));
            awake.push_back(seconds_to_meet(threads));
        }
        return {};
    });
    if (!measured.ok()) return {};
    return Seconds(std::max(0.0, median_of(std::move(asleep)) - median_of(std::move(awake))));
}

}  // namespace viridian::execute::cpu
