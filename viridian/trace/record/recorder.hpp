#pragma once
// A Recorder records what an executor does while it runs, without an allocation, lock or system call per
// event: each thread has a fixed buffer. A stamp is the processor's time-stamp counter if that is invariant,
// else the monotonic clock; `finish` maps stamps to nanoseconds since the Unix epoch by the two calibration
// points.
//
//     Recorder recorder(threads, 1 << 16);
//     const NameId conv = recorder.about().names.add("conv1");       // before running
//     const auto start = Recorder::now();  ...  recorder.record(thread, conv, start, Recorder::now());
//     auto source = std::move(recorder).finish();
#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

#include "viridian/trace/source.hpp"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace viridian::trace {

class Recorder {
  public:
    using Stamp = std::uint64_t;

    // Makes buffers for `threads` threads, each for `events_per_thread` events.
    Recorder(std::uint32_t threads, std::uint32_t events_per_thread);

    // Returns the tables of the trace. Names, paths and edges have to be added before running.
    [[nodiscard]] Trace& about() { return about_; }

    // Returns the present time as a stamp.
    [[nodiscard]] static Stamp now();

    [[nodiscard]] std::uint32_t threads() const { return static_cast<std::uint32_t>(buffers_.size()); }

    // Records one event; one thread at a time may use a `thread` number. If the buffer is full, the event is
    // counted as lost.
    void record(std::uint32_t thread, NameId name, Stamp start, Stamp end, PathId path = 0,
                Kind kind = Kind::operation, Pass pass = Pass::unknown) {
        Buffer& buffer = buffers_[thread];
        if (buffer.used == capacity_) [[unlikely]] {
            ++buffer.lost;
            return;
        }
        buffer.records[buffer.used++] = {start, end, name, path, kind, pass};
    }

    // Returns how many more events `thread` may record.
    [[nodiscard]] std::uint32_t left(std::uint32_t thread) const { return capacity_ - buffers_[thread].used; }
    // Forgets the events and keeps names and buffers, for the next repetition.
    void clear();
    // Returns the events so far as a trace (device cpu:0, one lane per thread). The recorder stays usable.
    [[nodiscard]] std::unique_ptr<Source> finish() const;

  private:
    struct Record {
        Stamp start, end;
        NameId name;
        PathId path;
        Kind kind;
        Pass pass;
    };
    struct alignas(64) Buffer {
        std::unique_ptr<Record[]> records;
        std::uint32_t used = 0;
        std::uint64_t lost = 0;
    };
    struct Point {  // a moment by both clocks
        Stamp stamp;
        Nanoseconds unix_time;
    };
    static Point calibrate();
    [[nodiscard]] Nanoseconds convert(Stamp stamp, Point last) const;

    std::uint32_t capacity_;
    std::vector<Buffer> buffers_;
    Trace about_;
    Point first_;
};

namespace detail {
[[nodiscard]] bool has_invariant_counter();
inline const bool invariant_counter = has_invariant_counter();
}  // namespace detail

inline Recorder::Stamp Recorder::now() {
#if defined(__x86_64__)
    if (detail::invariant_counter) [[likely]]
        return __rdtsc();
#endif
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<Stamp>(time.tv_sec) * 1'000'000'000U + static_cast<Stamp>(time.tv_nsec);
}

}  // namespace viridian::trace
