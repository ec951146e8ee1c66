#pragma once
// A Raw is one event as a format's reader understands it, before it is sorted, nested and joined. It is plain
// bytes, so that it can be sorted on disk.
#include <span>
#include <string>
#include <string_view>

#include "viridian/trace/event.hpp"

namespace viridian::trace {

struct Raw {
    enum class Phase : std::uint8_t { slice, begin, end, flow_out, flow_in };

    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::uint64_t order = 0;        // in the file
    std::uint64_t correlation = 0;  // of a flow: its id
    std::uint64_t external = 0;  // ties accelerator work to its operator if the launch is missing; 0 is none
    // -1 is none; `follows`: a backward node has the scope of the node before it on its lane
    std::int64_t sequence = -1;
    static constexpr std::int64_t follows = -2;
    double value = 0.0;
    NameId name = 0;
    NameId type = 0;
    PathId path = 0;   // the whole qualified name, or its last parts if `relative`; 0: not given
    PathId scope = 0;  // the scope part of `path`
    LaneId lane = 0;
    std::uint32_t forward_thread = 0;  // backward operators: the profiler's number of the forward thread
    Kind kind = Kind::operation;
    Pass pass = Pass::unknown;
    Phase phase = Phase::slice;
    bool relative = false;  // `path` continues the path of the enclosing event
    bool whole = false;     // `path` is given by the file, even if it is the root
    bool no_part = false;   // the event adds no part to its children's paths ("ProfilerStep#7")

    bool operator==(const Raw&) const = default;
};

// RawBefore is the order of raw events, for Sorter: by start, then the longer first, then by the file's
// order.
struct RawBefore {
    static std::int64_t key(const Raw& raw) { return raw.start; }
    bool operator()(const Raw& a, const Raw& b) const {
        if (a.start != b.start) return a.start < b.start;
        if (a.end != b.end) return a.end > b.end;
        return a.order < b.order;
    }
    // Writes sorted records to `out` as differences from the record before, in a fifth of their size, and
    // reads them back. `unpack` returns false if the bytes are not those of as many records.
    static void pack(std::span<const Raw> records, std::string& out);
    [[nodiscard]] static bool unpack(std::string_view packed, std::span<Raw> records);
};

}  // namespace viridian::trace
