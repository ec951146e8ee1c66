#pragma once
// Defines the flags that say which optional fields an event of the binary trace carries.
#include "viridian/trace/trace.hpp"

namespace viridian::trace {

inline constexpr unsigned flag_parent = 1U << 0U, flag_owner = 1U << 1U, flag_correlation = 1U << 2U,
                          flag_scope = 1U << 3U, flag_type = 1U << 4U, flag_sequence = 1U << 5U,
                          flag_forward = 1U << 6U, flag_value = 1U << 7U, flag_instance = 1U << 8U,
                          flag_device = 1U << 9U;

// Returns the flags of `event`, whose lane is in `about`. `expected` is the instance number that the reader
// would guess.
[[nodiscard]] inline unsigned flags_for(const Event& event, const Trace& about, InstanceId expected) {
    unsigned flags = 0;
    const auto mark = [&](bool present, unsigned flag) { flags |= present ? flag : 0U; };
    mark(event.parent != 0, flag_parent);
    mark(event.owner != 0, flag_owner);
    mark(event.forward != 0, flag_forward);
    mark(event.correlation != 0, flag_correlation);
    mark(event.sequence >= 0, flag_sequence);
    mark(event.type != event.name, flag_type);
    mark(event.scope != 0, flag_scope);
    mark(event.kind == Kind::counter, flag_value);
    mark(event.instance != expected, flag_instance);
    mark(event.device != about.lanes[event.lane].device, flag_device);
    return flags;
}

}  // namespace viridian::trace
