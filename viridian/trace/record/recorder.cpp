#include "viridian/trace/record/recorder.hpp"

#include <fmt/format.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace viridian::trace {
namespace {

Nanoseconds clock_now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<Nanoseconds>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

bool detail::has_invariant_counter() {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8U)) != 0;
#else
    return false;
#endif
}

Recorder::Recorder(std::uint32_t threads, std::uint32_t events_per_thread)
    : capacity_(events_per_thread), buffers_(threads), first_(calibrate()) {
    const DeviceId cpu = about_.device("cpu:0");
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
        buffers_[thread].records = std::make_unique<Record[]>(events_per_thread);
        about_.lanes[about_.lane(cpu, 0, thread)].name = fmt::format("thread {}", thread);
    }
    about_.format = "viridian";
    about_.source = "recorder";
}

// The stamp halfway between two readings of it, taken around a reading of the clock: the tightest of a few.
Recorder::Point Recorder::calibrate() {
    Point best{};
    Stamp tightest = ~Stamp{0};
    for (int attempt = 0; attempt < 16; ++attempt) {
        const Stamp before = now();
        const Nanoseconds time = clock_now(CLOCK_REALTIME);
        const Stamp after = now();
        if (after - before >= tightest) continue;
        tightest = after - before;
        best = {before + tightest / 2, time};
    }
    return best;
}

Nanoseconds Recorder::convert(Stamp stamp, Point last) const {
    if (last.stamp <= first_.stamp || last.unix_time <= first_.unix_time) return first_.unix_time;
    const double scale = static_cast<double>(last.unix_time - first_.unix_time) /
                         static_cast<double>(last.stamp - first_.stamp);
    const auto since = static_cast<std::int64_t>(stamp - first_.stamp);
    return first_.unix_time + static_cast<Nanoseconds>(static_cast<double>(since) * scale);
}

void Recorder::clear() {
    for (Buffer& buffer : buffers_) buffer.used = 0, buffer.lost = 0;
}

std::unique_ptr<Source> Recorder::finish() const {
    const Point last = calibrate();
    Trace about = about_;
    std::vector<Event> events;
    for (std::size_t thread = 0; thread < buffers_.size(); ++thread) {
        about.lost_events += buffers_[thread].lost;
        for (std::uint32_t i = 0; i < buffers_[thread].used; ++i) {
            const Record& record = buffers_[thread].records[i];
            Event event;
            event.start = convert(record.start, last);
            event.end = std::max(event.start, convert(record.end, last));
            event.name = event.type = record.name;
            event.path = record.path;
            event.scope = record.path == 0 ? 0 : about.paths.parent(record.path);
            event.lane = static_cast<LaneId>(thread);
            event.kind = record.kind;
            event.pass = record.pass;
            events.push_back(event);
        }
    }
    if (about.lost_events > 0) about.warn("events did not fit the recorder's buffer", "", about.lost_events);
    return from_memory(std::move(about), std::move(events));
}

}  // namespace viridian::trace
