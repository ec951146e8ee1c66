#include "viridian/execute/cpu/timing/core_latency.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds time_limit{5};

struct alignas(128) Line {
    std::atomic<int> number = 0;
};

// Waits until the line holds `number`. Returns false if the time is up before. A look at the clock takes
// about as long as a few dozen looks at the line, so it is seldom done.
bool arrives(const Line& line, int number, Clock::time_point end) {
    constexpr int looks_per_clock = 1024;
    while (true) {
        for (int look = 0; look < looks_per_clock; ++look)
            if (line.number.load(std::memory_order_acquire) == number) return true;
        if (Clock::now() >= end) return false;
    }
}

}  // namespace

// The threads pass a number round: it belongs to the thread that equals it modulo the number of threads. A
// thread that gives up passes nothing on, so all others give up at the same time.
Seconds core_to_core_latency(Pool& pool) {
    constexpr int batches = 4;
    constexpr int passes = 128;  // of each batch
    const int threads = pool.threads();
    if (threads < 2) return {};
    Line line;
    std::atomic<bool> given_up = false;
    double best = 0;
    const auto measured = with_crew(pool, [&]() -> Result<void> {
        const Clock::time_point end = Clock::now() + time_limit;
        parallel(threads, [&](int thread) {
            // Every thread reads `given_up` between two barriers at which nobody writes it.
            for (int batch = 0; batch < batches && !given_up; ++batch) {
                const int first = batch * passes * threads, next = first + passes * threads;
                barrier(threads);
                const auto begin = Clock::now();
                for (int pass = first + thread; pass < next; pass += threads) {
                    if (!arrives(line, pass, end)) {
                        given_up = true;
                        break;
                    }
                    line.number.store(pass + 1, std::memory_order_release);
                }
                barrier(threads);
                const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
                if (thread == 0 && !given_up) best = batch == 0 ? seconds : std::min(best, seconds);
            }
        });
        return {};
    });
    return measured.ok() ? Seconds(best / (passes * threads)) : Seconds();
}

}  // namespace viridian::execute::cpu
