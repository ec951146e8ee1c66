#pragma once
// A Trace is everything that a trace says besides its events: their origin, its clock, the tables of names,
// devices and lanes, data-flow edges, and the defects of the file. It fills while a Source is read: the ids
// in a batch are valid when the batch is handed out; warnings, edges and span are complete at the end.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/trace/event.hpp"
#include "viridian/trace/names.hpp"

namespace viridian::trace {

// A Clock says what the times of a trace mean.
struct Clock {
    enum class Zero : std::uint8_t {
        unix_epoch,  // nanoseconds since 1970
        unknown,     // relative to the start of a session; a given or fitted offset must align power with it
    } zero = Zero::unix_epoch;
    Nanoseconds resolution = 1;  // smallest step of the times in the file
};

struct Lane {  // a thread of a processor or a stream of an accelerator
    DeviceId device = 0;
    std::int64_t process = 0;
    std::int64_t thread = 0;  // thread or stream number
    std::string name;         // as in the file; may be empty
    std::uint32_t part = 0;   // index into Trace::processes, if several traces were merged
};

struct Edge {  // data flows from one named operator to another
    PathId from = 0;
    PathId to = 0;
    std::uint64_t count = 1;
    bool operator==(const Edge&) const = default;
};

struct Warning {  // one kind of defect, however often it occurred
    std::string what;
    std::uint64_t count = 0;
    std::string first;  // place or text of the first
};

struct Trace {
    std::string format;  // "kineto", "torch-legacy", "onnxruntime", "tensorflow-timeline", "chrome", ...
    std::string source;  // file name, or who recorded it
    Clock clock;
    Names names;
    Paths paths;
    std::vector<std::string> devices;    // "cpu:0", "cuda:0", by DeviceId
    std::vector<Lane> lanes;             // by LaneId
    std::vector<std::string> processes;  // whose traces were merged (join/merge.hpp); empty if none were
    std::vector<Edge> edges;
    std::vector<Warning> warnings;
    std::uint64_t events = 0;       // handed out so far
    std::uint64_t lost_events = 0;  // events that could not be read, or that the file says were dropped
    bool capped = false;            // the profiler stopped at its own limit (1,000,000 events)
    Nanoseconds begin = 0;          // earliest start and latest end of all events
    Nanoseconds end = 0;
    std::uint64_t unowned = 0;  // accelerator work whose launching operator is unknown

    // Return the number of a device or lane and add it if it is new.
    DeviceId device(std::string_view name);
    LaneId lane(DeviceId device, std::int64_t process, std::int64_t thread);
    // Return the index of the process of a lane, and its name; 0 and "" if the trace is of one process.
    [[nodiscard]] std::uint32_t part(LaneId lane) const;
    [[nodiscard]] std::string process(LaneId lane) const;
    // Copies origin, clock and defects of `from`, the trace from which this one is made.
    void take_origin(const Trace& from);
    // Counts `count` defects of the kind `what`. `first` tells place or text, and is kept for the first only.
    void warn(std::string_view what, std::string_view first, std::uint64_t count = 1);
    // Returns the qualified name: "bert/encoder/layer_0/MatMul".
    [[nodiscard]] std::string qualified(PathId path) const { return paths.text(path, names); }
};

}  // namespace viridian::trace
