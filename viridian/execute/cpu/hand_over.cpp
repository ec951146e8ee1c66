#include "viridian/execute/cpu/hand_over.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {

// A ball goes round: who has it is its number modulo the number of threads.
Seconds hand_over(int threads) {
    using Clock = std::chrono::steady_clock;
    constexpr int batches = 4;
    constexpr int passes = 128;  // of each batch
    if (threads < 2) return {};
    struct alignas(128) Ball {
        std::atomic<int> holder = 0;
    } ball;
    double best = 1e30;
    const ThreadCount count(threads);
    parallel(threads, [&](int thread) {
        const int playing = omp_get_num_threads();  // fewer, where the system refuses more
        for (int batch = 0; batch < batches; ++batch) {
            const int first = batch * passes * playing;
            barrier(playing);
            const auto begin = Clock::now();
            for (int pass = first + thread; pass < first + passes * playing; pass += playing) {
                while (ball.holder.load(std::memory_order_acquire) != pass) continue;
                ball.holder.store(pass + 1, std::memory_order_release);
            }
            barrier(playing);
            if (thread == 0)
                best = std::min(
                    best, std::chrono::duration<double>(Clock::now() - begin).count() / (passes * playing));
        }
    });
    return Seconds(best);
}

}  // namespace viridian::execute::cpu
