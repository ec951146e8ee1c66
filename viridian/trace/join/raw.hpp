#pragma once
// A Raw is what a format's reader understands of one event before it is sorted, nested and joined. It is
// plain bytes, so that it can be sorted on disk.
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
    std::uint64_t correlation = 0;  // or the flow's id
    std::uint64_t external = 0;  // ties accelerator work to its operator if the launch is missing; 0 is none
    std::int64_t sequence = -1;
    double value = 0.0;
    NameId name = 0;
    NameId type = 0;
    PathId path = 0;   // if the format says the whole qualified name, or (`relative`) its last parts
    PathId scope = 0;  // with `path`
    LaneId lane = 0;
    std::uint32_t forward_thread = 0;  // backward operators: the profiler's number of the forward thread
    Kind kind = Kind::operation;
    Pass pass = Pass::unknown;
    Phase phase = Phase::slice;
    bool relative = false;
    bool whole = false;    // `path` is the file's own, even if it is the root
    bool no_part = false;  // names no part of its children's paths ("ProfilerStep#7")

    bool operator==(const Raw&) const = default;
};

struct RawBefore {
    static std::int64_t key(const Raw& raw) { return raw.start; }
    bool operator()(const Raw& a, const Raw& b) const {
        if (a.start != b.start) return a.start < b.start;
        if (a.end != b.end) return a.end > b.end;
        return a.order < b.order;
    }
    // Sorted records as differences from the one before: a fifth of their size.
    static void pack(std::span<const Raw> records, std::string& out);
    [[nodiscard]] static bool unpack(std::string_view packed, std::span<Raw> records);
};

}  // namespace viridian::trace
