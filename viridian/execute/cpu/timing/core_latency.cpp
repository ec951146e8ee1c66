#include "viridian/execute/cpu/timing/core_latency.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {

// The threads pass a number round: it belongs to the thread that equals it modulo the number of threads.
Seconds core_to_core_latency(Pool& pool) {
    using Clock = std::chrono::steady_clock;
    constexpr int batches = 4;
    constexpr int passes = 128;  // of each batch
    const int threads = pool.threads();
    if (threads < 2) return {};
    struct alignas(128) Line {
        std::atomic<int> number = 0;
    } line;
    double best = 1e30;
    const auto measured = with_crew(pool, [&]() -> Result<void> {
        parallel(threads, [&](int thread) {
            for (int batch = 0; batch < batches; ++batch) {
                const int first = batch * passes * threads;
                barrier(threads);
                const auto begin = Clock::now();
                for (int pass = first + thread; pass < first + passes * threads; pass += threads) {
                    while (line.number.load(std::memory_order_acquire) != pass) continue;
                    line.number.store(pass + 1, std::memory_order_release);
                }
                barrier(threads);
                const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
                if (thread == 0) best = std::min(best, seconds / (passes * threads));
            }
        });
        return {};
    });
    return measured.ok() ? Seconds(best) : Seconds();
}

}  // namespace viridian::execute::cpu
