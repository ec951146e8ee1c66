#pragma once
// An Event is something that ran on a device from `start` to `end`, in nanoseconds, `end` excluded. It is
// plain data; every string is an id into the trace's tables (names.hpp, trace.hpp). A Source hands out events
// in order of time: by start, and among equal starts the longer first, so that a parent precedes its
// children.
#include <cstdint>
#include <string_view>

namespace viridian::trace {

using Nanoseconds = std::int64_t;  // since the Unix epoch, unless Trace::clock says otherwise
using NameId = std::uint32_t;      // of Names; 0 is the empty name
using PathId = std::uint32_t;      // of Paths; 0 is the root
using LaneId = std::uint32_t;      // index into Trace::lanes
using DeviceId = std::uint16_t;    // index into Trace::devices
using InstanceId = std::uint64_t;  // number of an event: 1, 2, ... in time order; 0 is none

enum class Kind : std::uint8_t {
    operation,  // a framework's operator on a processor's thread, a step of an executor
    kernel,     // on an accelerator's stream
    copy,       // memory copy on an accelerator's stream
    fill,       // memory set on an accelerator's stream
    launch,     // a runtime or driver call that may start accelerator work; its time is its operator's
    module,     // one call of a module (layer object)
    scope,      // a user's annotation, a session or step that only names a span
    function,   // an interpreter's function
    overhead,   // the profiler's own work, waiting rows: never work
    marker,     // an instant
    counter,    // `value` holds from `start` on
};
inline constexpr int kind_count = 11;

// Returns whether events of this kind own energy. The innermost such event of a lane is a leaf; the others
// only name it.
[[nodiscard]] constexpr bool is_work(Kind kind) { return kind <= Kind::fill; }
[[nodiscard]] std::string_view name_of(Kind kind);

// The parts of a training step: `backward` computes gradients, `weight` those of parameters alone if a writer
// tells them apart, `update` changes parameters, and `recompute` is a forward pass that the backward pass
// repeats, because its results were not kept.
enum class Pass : std::uint8_t { unknown, forward, backward, weight, update, recompute };
inline constexpr unsigned pass_count = 6;
[[nodiscard]] std::string_view name_of(Pass pass);
// Returns the pass of this name, or `unknown`.
[[nodiscard]] Pass pass_of(std::string_view name);

struct Event {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    InstanceId instance = 0;
    InstanceId parent = 0;          // the innermost event of the same lane that encloses this one
    InstanceId owner = 0;           // accelerator work: the operator (else the call) that launched it
    InstanceId forward = 0;         // backward operator: its forward operator
    std::uint64_t correlation = 0;  // ties a launch to the accelerator's work; 0 is none
    std::int64_t sequence = -1;     // autograd sequence number; -1 is none
    double value = 0.0;             // counters only
    NameId name = 0;                // as in the trace: node name, kernel name
    NameId type = 0;                // operator type ("MatMul", "aten::addmm"); equals `name` if unknown
    PathId path = 0;                // qualified name: scope, then nested operators, then this
    PathId scope = 0;               // the module or name-scope part of `path`
    LaneId lane = 0;
    DeviceId device = 0;
    Kind kind = Kind::operation;
    Pass pass = Pass::unknown;
    std::uint32_t depth = 0;  // enclosing events on the lane

    [[nodiscard]] Nanoseconds duration() const { return end - start; }
    bool operator==(const Event&) const = default;
};

// Returns whether `a` comes before `b` in the order of a Source. Events of equal start and end keep the order
// of the file.
[[nodiscard]] constexpr bool earlier(const Event& a, const Event& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
}

}  // namespace viridian::trace
