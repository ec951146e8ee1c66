#pragma once
// Runs a function on the threads of the crew in which the calling thread sits (pool/pool.hpp). oneDNN's
// kernels run on the same crew, so the workers are awake when the next kernel starts, whoever wrote it.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "viridian/execute/cpu/pool/crew.hpp"

namespace viridian::execute::cpu {

// Runs f(0) … f(threads − 1), the parts of one job. A thread may run several, one after the other, unless
// they meet at a barrier; the number of a part is therefore no number of a thread.
template <class Function>
void parallel(int threads, const Function& f) {
    if (threads == 1) return f(0);
    Crew* crew = seat().crew;
    invariant(crew != nullptr, "kernels run within a call");
    crew->run(
        threads, [](void* data, int part) { (*static_cast<const Function*>(data))(part); },
        const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

// While an OnThreads lives, oneDNN's kernels that the calling thread prepares or runs have at most `threads`
// parts, and the other workers sleep. 0 stands for all threads of the crew.
class OnThreads {
  public:
    explicit OnThreads(int threads) : before_(seat().most) {
        seat().most = threads;
        seat().crew->park_all_but(seat().most_parts());
    }
    ~OnThreads() { seat().most = before_; }
    OnThreads(const OnThreads&) = delete;
    OnThreads& operator=(const OnThreads&) = delete;

  private:
    int before_;
};

// Waits, inside a function that `parallel` runs, until every part has come here. A job with barriers waits
// for every worker to get a processor; where it costs little, two jobs are better.
inline void barrier(int threads) {
    if (threads > 1) seat().crew->barrier();
}

// Returns the `part`-th of `parts` nearly equal shares of [0, count) as {first, last}.
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> share(std::int64_t count, std::int64_t part,
                                                                 std::int64_t parts) {
    return {count * part / parts, count * (part + 1) / parts};
}

// Runs f(first, last) for every part's share of [0, count), in no more parts than there are items.
template <class Function>
void in_shares(int threads, std::int64_t count, const Function& f) {
    const int parts = static_cast<int>(std::clamp<std::int64_t>(count, 1, threads));
    parallel(parts, [&](int part) {
        const auto [first, last] = share(count, part, parts);
        f(first, last);
    });
}

// Runs f(item, part) for every item of [0, count), where `part` is one of [0, threads). Each part takes the
// next item when it is done with one, so that a slow processor, or one that others use too, takes fewer.
template <class Function>
void in_turn(int threads, std::int64_t count, const Function& f) {
    std::atomic<std::int64_t> next = 0;
    parallel(static_cast<int>(std::clamp<std::int64_t>(count, 1, threads)), [&](int part) {
        for (std::int64_t item = next++; item < count; item = next++) f(item, part);
    });
}

}  // namespace viridian::execute::cpu
