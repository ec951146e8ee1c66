#pragma once
// A Crew runs the parts of a job on the thread that calls it and on workers of its own.
//
// The parts of a job are numbered, and any thread of the crew may run any of them. Worker i first takes part
// i, so that parts meet the caches that they left; a thread that has finished takes a part that nobody has
// begun. A worker that the system keeps from its processor therefore delays a job only by the part that it
// has begun. Who finds nothing to do spins for some tens of microseconds, which bridges the time between
// consecutive kernels, and then sleeps.
//
// A worker that lost its processor inside a part stalls the job until it gets one again, which takes a time
// slice of another program. One that sleeps and gets none when it is called is no help either. In both cases
// the caller runs alone for a while before it calls the workers again.
//
// Barriers need every part on a thread of its own. They work because a thread takes a second part only after
// it has finished one: in a job with barriers, no part finishes before all have begun.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::execute::cpu {

// Members that different threads write stand in cache lines of their own; the room between them is wanted.
class Crew {  // NOLINT(clang-analyzer-optin.performance.Padding)
  public:
    using Part = void (*)(void* data, int part);

    // Starts `threads` − 1 workers, which spin for `spin` before they sleep. Worker i stays on the processor
    // cpus[i] if there is one and the system lets it. Errors: device_failed.
    [[nodiscard]] static Result<std::unique_ptr<Crew>> start(int threads, std::span<const int> cpus,
                                                             std::chrono::nanoseconds spin);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    [[nodiscard]] int threads() const { return threads_; }
    // Returns whether the workers stayed behind in the process that forked this one.
    [[nodiscard]] bool stayed_behind() const;
    // Says whether the caller runs jobs by itself from now on. It then calls the workers only for barriers.
    void keep_alone(bool alone) { alone_ = alone; }
    [[nodiscard]] bool alone() const { return alone_; }
    // Returns whether the workers rest after a stall.
    [[nodiscard]] bool rests();
    // Ends their rest: what is timed must not depend on stalls before it.
    void end_rest();

    // How the parts of a job may wait for each other.
    enum class Waits {
        at_barriers,  // only by barrier()
        anyhow,       // for memory that another part writes, for example: every worker has to be called
    };
    // Runs f(data, 0) … f(data, parts − 1), at most threads() parts, and waits for them. If parts throw, one
    // exception is thrown again here. A part that uses barriers must not throw. The caller sits in this
    // crew; a part starts no jobs.
    void run(int parts, Part f, void* data, Waits waits = Waits::at_barriers);
    // Says that jobs have at most `parts` parts from now on. Workers that have nothing to do then sleep at
    // once: waiting costs energy too.
    void park_all_but(int parts) {
        if (awake_.load(std::memory_order_relaxed) != parts) awake_.store(parts, std::memory_order_relaxed);
    }
    // Waits, inside a part, until every part of the job has come here.
    void barrier();

  private:
    Crew(int threads, std::chrono::nanoseconds spin);

    void publish(std::uint64_t number, int parts, Part f, void* data);
    void call_workers();
    void work(int index);
    [[nodiscard]] bool await_job(int index, std::uint64_t seen);
    [[nodiscard]] bool take(int part, std::uint64_t number);
    void run_part(int part, int parts, Part f, void* data);
    void await_finished(std::uint32_t parts);
    void rest_after(std::chrono::nanoseconds stall);
    [[nodiscard]] std::chrono::nanoseconds processor_time() const;

    const int threads_;
    const std::chrono::nanoseconds spin_;
    const unsigned forks_;  // of the process, when the workers started
    bool alone_ = false;
    // The workers rest until then, after a stall; the caller's alone.
    std::chrono::steady_clock::time_point rests_until_;
    std::chrono::nanoseconds rest_{0};
    // For how long workers were missing since then.
    std::chrono::steady_clock::time_point watched_since_ = std::chrono::steady_clock::now();
    std::chrono::nanoseconds missing_{0};

    // The newest job: written by the caller before `number_`, read after it. A thread that reads them too
    // late fails to take a part, because it knows an old number.
    alignas(64) std::atomic<std::uint64_t> number_ = 0;
    std::atomic<Part> f_ = nullptr;
    std::atomic<void*> data_ = nullptr;
    std::atomic<int> parts_ = 0;
    std::atomic<bool> called_ = false;     // the sleeping workers, for this job
    std::atomic<std::uint32_t> bell_ = 0;  // changes with every job; idle workers sleep on it
    std::atomic<bool> ends_ = false;
    std::atomic<int> awake_;                                     // workers from this one on do not spin
    alignas(64) std::vector<std::atomic<std::uint64_t>> taken_;  // by part: 2·number, + 1 if it is taken
    alignas(64) std::atomic<std::uint32_t> sleepers_ = 0;
    // When sleepers were called who have not come yet, and by how much a sleeper came late, in nanoseconds; 0
    // for neither.
    std::atomic<std::int64_t> called_at_ = 0, late_by_ = 0;
    alignas(64) std::atomic<std::uint32_t> finished_ = 0;  // parts that workers ran; the caller sleeps on it
    std::atomic<bool> caller_sleeps_ = false;
    alignas(64) std::atomic<int> arrived_ = 0;          // at the barrier
    alignas(64) std::atomic<std::uint32_t> phase_ = 0;  // barriers passed; who waits sleeps on it
    std::atomic<std::uint32_t> waiting_ = 0;
    std::atomic<bool> threw_ = false;
    std::exception_ptr thrown_;
    std::unique_ptr<std::vector<std::thread>> workers_ = std::make_unique<std::vector<std::thread>>();
};

// A Seat says what the calling thread does: which crew it calls or belongs to, and which part it runs.
// Outside of jobs it is part 0 of 1.
struct Seat {
    Crew* crew = nullptr;
    int part = 0, parts = 1;
    Crew::Waits openmp_waits = Crew::Waits::anyhow;  // the parts of OpenMP's regions that the thread starts
    int most = 0;  // parts of a region of OpenMP that the thread starts; 0: as many as the crew has threads

    [[nodiscard]] int most_parts() const { return most == 0 ? crew->threads() : most; }
};
// Returns the seat of the calling thread.
[[nodiscard]] Seat& seat();

// Returns how often fork() was called on the way from the first process to this one.
[[nodiscard]] unsigned forks();

}  // namespace viridian::execute::cpu
