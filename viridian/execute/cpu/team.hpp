#pragma once
// Enters the device's OpenMP team for the duration of one call into the library. OpenMP keeps one team for
// each calling thread. Two kinds of calling thread can have none: one that is itself inside a parallel
// region, and one that went through fork(), whose workers stayed in the parent (libgomp would wait for them
// for ever). Their calls run on a helper thread, which has a team of its own; that costs two wake-ups a call.
#include <omp.h>

#include <functional>
#include <optional>
#include <type_traits>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// While a ThreadCount lives, the calling thread uses `threads` OpenMP threads, and OpenMP may not adjust that
// number. OpenMP keeps both settings for each thread, so other threads see no change.
class ThreadCount {
  public:
    explicit ThreadCount(int threads) : threads_(omp_get_max_threads()), dynamic_(omp_get_dynamic()) {
        omp_set_num_threads(threads);
        if (dynamic_ != 0) omp_set_dynamic(0);
    }
    ~ThreadCount() {
        omp_set_num_threads(threads_);
        if (dynamic_ != 0) omp_set_dynamic(dynamic_);
    }
    ThreadCount(const ThreadCount&) = delete;
    ThreadCount& operator=(const ThreadCount&) = delete;

  private:
    int threads_, dynamic_;
};

// Returns whether a call with `threads` threads has to run on a helper thread.
[[nodiscard]] bool needs_helper(int threads);
// Runs `f` on the calling thread's helper and waits for it. An exception of `f` is thrown again here.
void call_on_helper(const std::function<void()>& f);

// Returns what `f` returns, a Result, with OpenMP set to `threads` threads meanwhile. A KernelFailure that
// `f` throws becomes the result's error.
template <class Function>
std::invoke_result_t<const Function&> with_team(int threads, const Function& f) {
    try {
        if (!needs_helper(threads)) [[likely]] {
            const ThreadCount count(threads);
            return f();
        }
        std::optional<std::invoke_result_t<const Function&>> result;
        call_on_helper([&] {
            const ThreadCount count(threads);
            result.emplace(f());
        });
        return *std::move(result);
    } catch (const KernelFailure& failure) {
        return failure.error;
    }
}

}  // namespace viridian::execute::cpu
