#include "viridian/meter/sampler.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

namespace viridian::meter {
namespace {

std::int64_t nanoseconds(Seconds seconds) { return static_cast<std::int64_t>(seconds.value * 1e9); }

std::int64_t thread_cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Sampler::Sampler(std::vector<Meter> meters, SamplerOptions options, Take take, Note note)
    : options_(options), take_(std::move(take)), note_(std::move(note)) {
    for (Meter& meter : meters) {
        stats_.meters.push_back({.name = meter.name, .period = options.period, .last_failure = {}});
        meters_.push_back({.meter = std::move(meter),
                           .period_ns = std::max<std::int64_t>(nanoseconds(options.period), 50'000)});
    }
    thread_ = std::thread([this] { run(); });
}

Sampler::~Sampler() { stop(); }

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
    return stats_;
}

// Unix time minus monotonic time changes when somebody sets the clock; slow slewing is followed too.
void Sampler::watch_clock() {
    const Stamp now = stamp_now();
    const std::int64_t offset = now.time_ns - now.monotonic_ns;
    const std::int64_t change = std::abs(offset - offset_ns_);
    if (change < 100'000) return;
    if (offset_ns_ != 0 && change > 1'000'000) {
        const std::lock_guard lock(mutex_);
        ++stats_.clock_steps;
    }
    offset_ns_ = offset;
    if (note_) note_(fmt::format("monotonic_offset_ns {}", offset));
}

void Sampler::read(Tracked& tracked, SamplerStats::OfMeter& stats) {
    samples_.clear();
    const Result<void> result = tracked.meter.read(samples_);
    if (!samples_.empty() && take_) take_(tracked.meter.listed(), samples_);
    const std::int64_t cpu = thread_cpu_ns();  // waking up is part of the cost
    const auto cost = static_cast<double>(cpu - cpu_ns_);
    cpu_ns_ = cpu;
    tracked.mean_cost_ns += (cost - tracked.mean_cost_ns) *
                            (stats.reads < 16 ? 1.0 / static_cast<double>(stats.reads + 1) : 0.05);
    if (result.ok() != !tracked.lost) {
        tracked.lost = !result.ok();
        if (note_)
            note_(fmt::format("{} {} {}{}", tracked.lost ? "lost" : "found", tracked.meter.name,
                              stamp_now().time_ns, tracked.lost ? " " + result.error().message : ""));
    }
    const std::lock_guard lock(mutex_);
    ++stats.reads;
    stats_.cpu = Seconds(static_cast<double>(thread_cpu_ns()) * 1e-9);
    if (!result.ok()) {
        ++stats.failures;
        stats.last_failure = result.error().message;
    }
}

void Sampler::run() {
    const double share = options_.max_share / static_cast<double>(std::max<std::size_t>(meters_.size(), 1));
    const std::int64_t begin = stamp_now().monotonic_ns;
    for (Tracked& tracked : meters_) tracked.due_ns = begin;
    while (true) {
        watch_clock();
        const std::int64_t now = stamp_now().monotonic_ns;
        std::int64_t next = now + 1'000'000'000;
        for (std::size_t i = 0; i < meters_.size(); ++i) {
            Tracked& tracked = meters_[i];
            if (tracked.due_ns <= now) {
                read(tracked, stats_.meters[i]);
                const auto affordable = static_cast<std::int64_t>(tracked.mean_cost_ns / share);
                tracked.period_ns =
                    std::max(nanoseconds(options_.period), std::min<std::int64_t>(affordable, 1'000'000'000));
                tracked.due_ns += tracked.period_ns;
                const std::int64_t after = stamp_now().monotonic_ns;
                const std::lock_guard lock(mutex_);
                stats_.meters[i].period = Seconds(static_cast<double>(tracked.period_ns) * 1e-9);
                if (tracked.due_ns < after) {
                    const std::int64_t missed = (after - tracked.due_ns) / tracked.period_ns + 1;
                    stats_.meters[i].missed += static_cast<std::uint64_t>(missed);
                    tracked.due_ns += missed * tracked.period_ns;
                }
            }
            next = std::min(next, tracked.due_ns);
        }
        std::unique_lock lock(mutex_);
        const auto wait =
            std::chrono::nanoseconds(std::max<std::int64_t>(next - stamp_now().monotonic_ns, 0));
        if (wake_.wait_for(lock, wait, [this] { return stopping_; })) break;
    }
    watch_clock();
    for (std::size_t i = 0; i < meters_.size(); ++i) read(meters_[i], stats_.meters[i]);
}

}  // namespace viridian::meter
