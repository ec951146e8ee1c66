#include "viridian/execute/cpu/pool/crew.hpp"

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <system_error>
#include <utility>

#include "viridian/base/system/disturbance.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/pool/held_signals.hpp"

namespace viridian::execute::cpu {
namespace {

std::atomic<unsigned> fork_count = 0;

// Before main, because a crew may be at work when the process forks for the first time.
[[maybe_unused]] const int counts_forks =
    pthread_atfork(nullptr, nullptr, [] { fork_count.fetch_add(1, std::memory_order_relaxed); });

// Sleeps until somebody wakes those that sleep on `word`, or returns at once if it does not hold `value`.
void sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void wake(const std::atomic<std::uint32_t>& word, int count) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

// A wait of this length that no worker spent at work is a stall.
constexpr std::chrono::nanoseconds shortest_stall{300'000};
// Workers that were missing for half of the time that they are watched rest: twice as long as the last stall,
// and twice as long as the last time if they are missing again soon, within the larger of the two limits.
constexpr std::chrono::milliseconds shortest_watch{20}, longest_watch{100};
constexpr int rest_per_stall = 2;
constexpr std::chrono::milliseconds rest_after_short_stalls{64};
constexpr int longest_rest_per_stall = 8;

std::int64_t now_in_nanoseconds() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns whether `holds` became true within `budget`.
template <class Condition>
bool spin_until(std::chrono::nanoseconds budget, const Condition& holds) {
    using Clock = std::chrono::steady_clock;
    constexpr int between_looks_at_the_clock = 16;
    if (holds()) return true;
    if (budget.count() == 0) return false;
    const auto end = Clock::now() + budget;
    do {
        for (int i = 0; i < between_looks_at_the_clock; ++i) {
            _mm_pause();
            if (holds()) return true;
        }
    } while (Clock::now() < end);
    return false;
}

}  // namespace

Seat& seat() {
    thread_local Seat own;
    return own;
}

unsigned forks() { return fork_count.load(std::memory_order_relaxed); }

Crew::Crew(int threads, std::chrono::nanoseconds spin)
    : threads_(threads),
      spin_(spin),
      forks_(forks()),
      awake_(threads),
      taken_(static_cast<std::size_t>(threads)) {}

Result<std::unique_ptr<Crew>> Crew::start(int threads, std::span<const int> cpus,
                                          std::chrono::nanoseconds spin) {
    const HeldSignals held;  // workers inherit the signal mask
    std::unique_ptr<Crew> crew(new Crew(threads, spin));
    for (int i = 1; i < threads; ++i) {
        const auto index = static_cast<std::size_t>(i);
        const int cpu = index < cpus.size() ? cpus[index] : -1;
        try {
            crew->workers_->emplace_back([&own = *crew, i, cpu] {
                pthread_setname_np(pthread_self(), "viridian");
                // A processor that refuses is no reason to stop: the thread just floats.
                if (cpu >= 0) static_cast<void>(pin_thread(cpu).ok());
                own.work(i);
            });
        } catch (const std::system_error&) {
            return fail(ErrorCode::device_failed, "ask for fewer threads, or raise the limit (`ulimit -u`)",
                        "the system starts {} threads, the device has {}", i, threads);
        }
    }
    return crew;
}

Crew::~Crew() {
    if (stayed_behind()) {
        [[maybe_unused]] const auto* left_behind = workers_.release();  // nobody can join them
        return;
    }
    ends_.store(true);
    number_.fetch_add(1);
    bell_.fetch_add(1);
    wake(bell_, INT_MAX);
    for (std::thread& worker : *workers_) worker.join();
}

bool Crew::stayed_behind() const { return forks_ != forks(); }

void Crew::run(int parts, Part f, void* data, Waits waits) {
    if (parts == 1) return f(data, 0);
    const Seat before = seat();
    invariant(before.crew == this && before.parts == 1, "a crew's caller starts jobs, and no part does");
    invariant(parts <= threads_, "a job has at most as many parts as its crew has threads");
    const std::uint64_t number = number_.load(std::memory_order_relaxed) + 1;
    publish(number, parts, f, data);
    if (waits == Waits::anyhow || (!alone_ && !rests())) call_workers();
    run_part(0, parts, f, data);
    std::uint32_t ran = 1;
    for (int part = 1; part < parts; ++part)
        if (take(part, number)) {
            const auto begin = std::chrono::steady_clock::now();
            run_part(part, parts, f, data);
            if (!alone_) add_stand_in(std::chrono::steady_clock::now() - begin);
            ++ran;
        }
    seat() = before;
    await_finished(static_cast<std::uint32_t>(parts) - ran);
    if (threw_.load(std::memory_order_relaxed)) [[unlikely]] {
        threw_.store(false, std::memory_order_relaxed);
        std::rethrow_exception(std::exchange(thrown_, nullptr));
    }
}

void Crew::publish(std::uint64_t number, int parts, Part f, void* data) {
    f_.store(f, std::memory_order_relaxed);
    data_.store(data, std::memory_order_relaxed);
    parts_.store(parts, std::memory_order_relaxed);
    called_.store(false, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    for (int part = 1; part < parts; ++part)
        taken_[static_cast<std::size_t>(part)].store(2 * number, std::memory_order_relaxed);
    number_.store(number, std::memory_order_release);
    // In one order with the sleepers' count: a worker either sees the job, or is seen to sleep.
    bell_.store(static_cast<std::uint32_t>(number));
}

void Crew::call_workers() {
    called_.store(true, std::memory_order_relaxed);
    if (sleepers_.load() == 0) return;
    if (called_at_.load(std::memory_order_relaxed) == 0)
        called_at_.store(now_in_nanoseconds(), std::memory_order_relaxed);
    wake(bell_, parts_.load(std::memory_order_relaxed) - 1);
}

bool Crew::take(int part, std::uint64_t number) {
    std::uint64_t free = 2 * number;
    auto& word = taken_[static_cast<std::size_t>(part)];
    return word.load(std::memory_order_relaxed) == free &&
           word.compare_exchange_strong(free, free + 1, std::memory_order_relaxed);
}

void Crew::run_part(int part, int parts, Part f, void* data) {
    seat() = {this, part, parts};
    try {
        f(data, part);
    } catch (...) {
        if (!threw_.exchange(true)) thrown_ = std::current_exception();
    }
}

void Crew::await_finished(std::uint32_t parts) {
    const auto done = [&] { return finished_.load(std::memory_order_acquire) == parts; };
    if (spin_until(spin_, done)) return;
    const auto begin = std::chrono::steady_clock::now();
    const auto worked = processor_time();
    caller_sleeps_.store(true);
    for (std::uint32_t seen = finished_.load(); seen != parts; seen = finished_.load())
        sleep_on(finished_, seen);
    caller_sleeps_.store(false, std::memory_order_relaxed);
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > shortest_stall && 2 * (processor_time() - worked) < waited) rest_after(waited);
}

bool Crew::rests() {
    if (late_by_.load(std::memory_order_relaxed) != 0) [[unlikely]]
        rest_after(std::chrono::nanoseconds(late_by_.exchange(0, std::memory_order_relaxed)));
    return rest_.count() > 0 && std::chrono::steady_clock::now() < rests_until_;
}

void Crew::end_rest() {
    late_by_.store(0, std::memory_order_relaxed);
    rest_ = std::chrono::nanoseconds::zero();
}

void Crew::rest_after(std::chrono::nanoseconds stall) {
    const auto now = std::chrono::steady_clock::now();
    const auto watched = now - watched_since_;
    missing_ += stall;
    if (watched < shortest_watch) return;
    if (2 * missing_ < watched) {  // with them the caller is faster all the same
        if (watched > longest_watch) watched_since_ = now, missing_ = std::chrono::nanoseconds::zero();
        return;
    }
    const bool again = rest_.count() > 0 && now < rests_until_ + rest_;
    const auto longest =
        std::max<std::chrono::nanoseconds>(rest_after_short_stalls, longest_rest_per_stall * stall);
    rest_ = std::min(again ? 2 * rest_ : rest_per_stall * stall, longest);
    watched_since_ = rests_until_ = now + rest_;
    missing_ = std::chrono::nanoseconds::zero();
}

std::chrono::nanoseconds Crew::processor_time() const {
    std::chrono::nanoseconds sum{0};
    for (std::thread& worker : *workers_) {
        clockid_t clock{};
        timespec time{};
        if (pthread_getcpuclockid(worker.native_handle(), &clock) == 0 && clock_gettime(clock, &time) == 0)
            sum += std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    }
    return sum;
}

void Crew::work(int index) {
    for (std::uint64_t seen = 0; await_job(index, seen);) {
        seen = number_.load(std::memory_order_acquire);
        const Part f = f_.load(std::memory_order_relaxed);
        void* data = data_.load(std::memory_order_relaxed);
        const int parts = parts_.load(std::memory_order_relaxed);
        for (int i = 0; i < parts; ++i) {
            const int part = i == 0 ? index : i;  // its own first
            if (part >= parts || !take(part, seen)) continue;
            run_part(part, parts, f, data);
            finished_.fetch_add(1);
            if (caller_sleeps_.load()) wake(finished_, 1);
        }
    }
}

bool Crew::await_job(int index, std::uint64_t seen) {
    const auto there = [&] { return number_.load(std::memory_order_acquire) != seen; };
    const auto parked = [&] { return index >= awake_.load(std::memory_order_relaxed); };
    while (!spin_until(spin_, [&] { return there() || parked(); }) || !there()) {
        called_at_.store(0, std::memory_order_relaxed);  // by a caller who took it for a sleeper as it woke
        const std::uint32_t bell = bell_.load();
        sleepers_.fetch_add(1);
        if (number_.load() == seen) sleep_on(bell_, bell);
        sleepers_.fetch_sub(1);
        if (const auto called = called_at_.exchange(0, std::memory_order_relaxed); called != 0)
            if (const auto late = now_in_nanoseconds() - called; late > shortest_stall.count())
                late_by_.store(late, std::memory_order_relaxed);
    }
    return !ends_.load(std::memory_order_relaxed);
}

void Crew::barrier() {
    const int parts = seat().parts;
    if (parts == 1) return;
    if (!called_.load(std::memory_order_relaxed)) call_workers();
    const std::uint32_t phase = phase_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parts) {
        arrived_.store(0, std::memory_order_relaxed);
        phase_.store(phase + 1);
        if (waiting_.load() > 0) wake(phase_, INT_MAX);
        return;
    }
    if (spin_until(spin_, [&] { return phase_.load(std::memory_order_acquire) != phase; })) return;
    waiting_.fetch_add(1);
    while (phase_.load() == phase) sleep_on(phase_, phase);
    waiting_.fetch_sub(1);
}

}  // namespace viridian::execute::cpu
