#include "viridian/meter/sampler.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>

namespace viridian::meter {
namespace {

constexpr std::int64_t shortest_period_ns = 50'000;
constexpr std::int64_t longest_period_ns = 1'000'000'000;
// Up to here the thread sleeps without listening for `stop`: a plain sleep costs a third less than a wait on
// a condition variable.
constexpr std::int64_t plain_sleep_ns = 20'000'000;

std::int64_t nanoseconds(Seconds seconds) { return static_cast<std::int64_t>(seconds.value * 1e9); }

std::int64_t thread_cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void sleep_until(std::int64_t monotonic_ns) {
    const timespec time{monotonic_ns / 1'000'000'000, monotonic_ns % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
    }
}

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

}  // namespace

Sampler::Sampler(std::vector<Meter> meters, SamplerOptions options, const Take& take, Note note)
    : options_(options), note_(std::move(note)), begin_ns_(stamp_now().monotonic_ns) {
    samples_.reserve(256);
    for (Meter& meter : meters) {
        Tracked& tracked = meters_.emplace_back();
        tracked.number = ++last_number_;
        tracked.stats.name = meter.name;
        tracked.meter = std::move(meter);
        tracked.take = take;
        tracked.due_ns = begin_ns_;
        settle(tracked, 0.0);
    }
    thread_ = std::thread([this] { run(); });
}

Sampler::~Sampler() { stop(); }

std::uint64_t Sampler::add(Meter meter, Take take) {
    const std::lock_guard lock(mutex_);
    Tracked& tracked = meters_.emplace_back();
    tracked.number = ++last_number_;
    tracked.stats.name = meter.name;
    tracked.meter = std::move(meter);
    tracked.take = std::move(take);
    read(tracked);
    settle(tracked, 0.0);
    // The meter is read together with the next reading of the others. If that is more than plain_sleep_ns
    // away, the thread can be woken before, and the meter is read whole periods earlier.
    const std::int64_t now = stamp_now().monotonic_ns;
    tracked.due_ns = next_due(now);
    if (const std::int64_t left = tracked.due_ns - now; left > plain_sleep_ns)
        tracked.due_ns -= (left - 1) / tracked.period_ns * tracked.period_ns;
    wake_.notify_all();
    return tracked.number;
}

void Sampler::remove(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    meters_.remove_if([number](const Tracked& tracked) { return tracked.number == number; });
}

void Sampler::read_now() {
    const std::int64_t asked = stamp_now().monotonic_ns;
    std::unique_lock lock(mutex_);
    while (last_bound_ns_ < asked) {  // else another caller's reading began after this call
        const std::int64_t now = stamp_now().monotonic_ns;
        if (const std::int64_t allowed = allowed_ns(); now < allowed) {
            lock.unlock();
            sleep_until(allowed);
            lock.lock();
            continue;
        }
        last_reading_ns_ = last_bound_ns_ = now;
        watch_clock();
        for (Tracked& tracked : meters_) read(tracked);
    }
}

std::int64_t Sampler::allowed_ns() const { return last_reading_ns_ + nanoseconds(options_.least); }

void Sampler::pace(Seconds period) {
    const std::lock_guard lock(mutex_);
    if (options_.period.value == period.value) return;
    options_.period = period;
    for (Tracked& tracked : meters_) {
        settle(tracked, tracked.mean_cost_ns);
        tracked.due_ns = std::min(tracked.due_ns, stamp_now().monotonic_ns + tracked.period_ns);
    }
    wake_.notify_all();
}

SamplerStats Sampler::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    return stats();
}

SamplerStats Sampler::stats() const {
    const std::lock_guard lock(mutex_);
    SamplerStats stats;
    for (const Tracked& tracked : meters_) stats.meters.push_back(tracked.stats);
    stats.clock_steps = clock_steps_;
    stats.cpu = Seconds(static_cast<double>(cpu_ns_) * 1e-9);
    return stats;
}

// Unix time minus monotonic time changes when somebody sets the clock; slow slewing is followed too.
void Sampler::watch_clock() {
    const Stamp now = stamp_now();
    const std::int64_t offset = now.time_ns - now.monotonic_ns;
    const std::int64_t change = std::abs(offset - offset_ns_);
    if (change < 100'000) return;
    if (offset_ns_ != 0 && change > 1'000'000) ++clock_steps_;
    offset_ns_ = offset;
    if (note_) note_(fmt::format("monotonic_offset_ns {}", offset));
}

void Sampler::read(Tracked& tracked) {
    samples_.clear();
    const Result<void> result = tracked.meter.read(samples_);
    if (!samples_.empty() && tracked.take) tracked.take(tracked.meter.listed(), samples_);
    ++tracked.stats.reads;
    if (!result.ok()) {
        ++tracked.stats.failures;
        tracked.stats.last_failure = result.error().message;
    }
    if (result.ok() != tracked.stats.lost) return;
    tracked.stats.lost = !result.ok();
    if (note_)
        note_(fmt::format("{} {} {}{}", tracked.stats.lost ? "lost" : "found", tracked.meter.name,
                          stamp_now().time_ns, tracked.stats.lost ? " " + result.error().message : ""));
}

// The period that keeps this meter's cost affordable: a multiple of the fastest meter's.
void Sampler::settle(Tracked& tracked, double cost_ns) {
    tracked.mean_cost_ns +=
        (cost_ns - tracked.mean_cost_ns) *
        (tracked.stats.reads < 16 ? 1.0 / static_cast<double>(tracked.stats.reads + 1) : 0.05);
    // Who may be read often gets more of the share: in proportion to the rates without a limit.
    const auto least = [&](const Tracked& one) {
        return std::max({nanoseconds(options_.period), nanoseconds(one.meter.shortest), shortest_period_ns});
    };
    double rates = 0.0;
    for (const Tracked& one : meters_) rates += 1.0 / static_cast<double>(least(one));
    const auto wanted = [&](const Tracked& one) {
        const double share = options_.max_share / (static_cast<double>(least(one)) * rates);
        const auto affordable = static_cast<std::int64_t>(one.mean_cost_ns / share);
        return std::max(least(one), std::min(affordable, longest_period_ns));
    };
    std::int64_t fastest = wanted(tracked);
    for (const Tracked& other : meters_) fastest = std::min(fastest, wanted(other));
    tracked.period_ns = round_up(wanted(tracked), fastest);
    tracked.stats.period = Seconds(static_cast<double>(tracked.period_ns) * 1e-9);
}

std::int64_t Sampler::next_due(std::int64_t now) const {
    std::int64_t next = now + longest_period_ns;
    for (const Tracked& tracked : meters_)
        if (tracked.due_ns > now) next = std::min(next, tracked.due_ns);
    return next;
}

void Sampler::read_due(std::int64_t now) {
    std::int64_t at = now, spent = 0;
    for (Tracked& tracked : meters_) {
        tracked.spent_ns = 0;
        if (tracked.due_ns > now) continue;
        last_reading_ns_ = now;
        read(tracked);
        const std::int64_t after = stamp_now().monotonic_ns;
        tracked.spent_ns = std::max<std::int64_t>(after - at, 1);
        spent += tracked.spent_ns;
        at = after;
    }
    if (spent == 0) return;
    // The CPU time since the last waking, this one's start included, is shared as the reading took.
    const std::int64_t cpu = thread_cpu_ns();
    const double per_ns = static_cast<double>(cpu - cpu_ns_) / static_cast<double>(spent);
    cpu_ns_ = cpu;
    for (Tracked& tracked : meters_) {
        if (tracked.spent_ns == 0) continue;
        settle(tracked, per_ns * static_cast<double>(tracked.spent_ns));
        tracked.due_ns += tracked.period_ns;
        if (tracked.due_ns >= at) continue;
        const std::int64_t missed = (at - tracked.due_ns) / tracked.period_ns + 1;
        tracked.stats.missed += static_cast<std::uint64_t>(missed);
        tracked.due_ns += missed * tracked.period_ns;
    }
}

void Sampler::run() {
    std::unique_lock lock(mutex_);
    cpu_ns_ = thread_cpu_ns();
    while (!stopping_) {
        watch_clock();
        const std::int64_t begin = stamp_now().monotonic_ns;
        const bool allowed = begin >= allowed_ns();
        if (allowed) read_due(begin);
        const std::int64_t now = stamp_now().monotonic_ns;
        const std::int64_t next = allowed ? next_due(now) : allowed_ns();
        if (next - now > plain_sleep_ns) {
            wake_.wait_for(lock, std::chrono::nanoseconds(next - now));
        } else {
            lock.unlock();
            sleep_until(next);
            lock.lock();
        }
    }
    watch_clock();
    for (Tracked& tracked : meters_) read(tracked);
    cpu_ns_ = thread_cpu_ns();
}

}  // namespace viridian::meter
