#include "viridian/execute/cpu/timing/muster.hpp"

#include <chrono>

#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {

bool muster(int threads) {
    using Clock = std::chrono::steady_clock;
    constexpr int most_attempts = 10;
    constexpr std::chrono::microseconds at_once{20};  // shorter than workers spin, longer than a barrier
    if (threads == 1) return true;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        seat().crew->end_rest();
        const auto begin = Clock::now();
        parallel(threads, [&](int) { barrier(threads); });
        if (Clock::now() - begin < at_once) return true;
    }
    return false;
}

}  // namespace viridian::execute::cpu
