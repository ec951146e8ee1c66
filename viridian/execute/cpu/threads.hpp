#pragma once
// The device's threads are libgomp's, which oneDNN uses too: one pool, so that its workers are awake when the
// next kernel comes, whoever wrote it.
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace viridian::execute::cpu {

// While it lives, the calling thread's parallel regions have `threads` threads.
class ThreadCount {
  public:
    explicit ThreadCount(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
    ~ThreadCount() { omp_set_num_threads(before_); }
    ThreadCount(const ThreadCount&) = delete;
    ThreadCount& operator=(const ThreadCount&) = delete;

  private:
    int before_;
};

// Runs f(0) … f(threads − 1), each on its own thread; f(0) on the caller's.
template <class Function>
void parallel(int threads, const Function& f) {
    if (threads == 1) return f(0);
#pragma omp parallel num_threads(threads)
    f(omp_get_thread_num());
}

// Inside such an f: waits until every thread is here.
inline void barrier(int threads) {
    if (threads == 1) return;
#pragma omp barrier
}

// The `part`-th of `parts` nearly equal shares of [0, count).
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> share(std::int64_t count, std::int64_t part,
                                                                 std::int64_t parts) {
    return {count * part / parts, count * (part + 1) / parts};
}

// Runs f(first, last) for each thread's share of [0, count).
template <class Function>
void in_shares(int threads, std::int64_t count, const Function& f) {
    parallel(threads, [&](int thread) {
        const auto [first, last] = share(count, thread, threads);
        f(first, last);
    });
}

}  // namespace viridian::execute::cpu
