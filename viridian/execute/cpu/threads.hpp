#pragma once
// Runs a function on the threads of an OpenMP team. oneDNN uses the caller's team too, so the workers are
// awake when the next kernel starts, whoever wrote it. team.hpp enters the team for the length of one call.
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace viridian::execute::cpu {

// Throws the KernelFailure which says that OpenMP started `given` threads although a kernel asked for
// `wanted`.
[[noreturn]] void refuse_team(int given, int wanted);

// Runs f(0) … f(threads − 1), each on its own thread; f(0) runs on the caller's. Throws KernelFailure,
// without a call of `f`, if OpenMP starts fewer threads (OMP_THREAD_LIMIT).
template <class Function>
void parallel(int threads, const Function& f) {
    if (threads == 1) return f(0);
    int given = threads;
#pragma omp parallel num_threads(threads)
    {
        const int thread = omp_get_thread_num();
        if (omp_get_num_threads() == threads) [[likely]]
            f(thread);
        else if (thread == 0)
            given = omp_get_num_threads();
    }
    if (given != threads) [[unlikely]]
        refuse_team(given, threads);
}

// Waits, inside a function that `parallel` runs, until every thread has come here.
inline void barrier(int threads) {
    if (threads == 1) return;
#pragma omp barrier
}

// Returns the `part`-th of `parts` nearly equal shares of [0, count) as {first, last}.
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> share(std::int64_t count, std::int64_t part,
                                                                 std::int64_t parts) {
    return {count * part / parts, count * (part + 1) / parts};
}

// Runs f(first, last) on each thread for its share of [0, count).
template <class Function>
void in_shares(int threads, std::int64_t count, const Function& f) {
    parallel(threads, [&](int thread) {
        const auto [first, last] = share(count, thread, threads);
        f(first, last);
    });
}

}  // namespace viridian::execute::cpu
