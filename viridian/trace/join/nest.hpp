#pragma once
// Nest finds parents, depths and qualified names of events that come in order of time, from the events of
// each lane that are still open. Events that overlap without enclosing each other (streams of some profilers)
// are siblings.
#include <vector>

#include "viridian/trace/trace.hpp"

namespace viridian::trace {

class Nest {
  public:
    // An Open is an event of a lane that has not ended yet.
    struct Open {
        Nanoseconds end = 0;
        InstanceId instance = 0;
        PathId path = 0;
        PathId scope = 0;
        Kind kind = Kind::operation;
        Pass pass = Pass::unknown;
        InstanceId forward = 0;
        std::uint32_t depth = 0;
        NameId type = 0;
    };

    // Gives `event` its instance number, parent and depth. It inherits scope, pass and forward from the
    // parent if it has none. Returns the parent, or nullptr. A child may end up to `slack` nanoseconds after
    // its parent, because files round times.
    const Open* enter(Event& event, Nanoseconds slack);
    // Opens `event` once its path is known, so that later events find it.
    void open(const Event& event);
    // Returns the innermost open operation, module or scope of a lane at `time`, or nullptr.
    [[nodiscard]] const Open* innermost(LaneId lane, Nanoseconds time) const;

    // Returns the innermost open event of any kind of a lane at `time`, or nullptr.
    [[nodiscard]] const Open* top(LaneId lane, Nanoseconds time) const;

  private:
    std::vector<std::vector<Open>> lanes_;  // outermost first
    InstanceId last_ = 0;
};

// Gives `event` the usual qualified name: the parent's path, then this event's name; modules and scopes
// extend `scope`. Functions, overhead, markers and counters add no part.
void qualify(Event& event, const Nest::Open* parent, Trace& about);

}  // namespace viridian::trace
