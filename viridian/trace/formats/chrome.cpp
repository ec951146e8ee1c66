// Any other trace in Chrome's format ("Trace Event Format", the Chromium project): X, B and E slices,
// counters, instants, and flows, which are read as data flow between the slices that they bind to.
//
// | Chrome JSON | nesting of X and B/E slices | flows are read as `edges` | as found |
#include "viridian/trace/formats/formats.hpp"

namespace viridian::trace {
namespace {

std::optional<Raw> understand_chrome(const JsonEvent& event, Raw raw, TraceTables& tables) {
    raw.lane = tables.lane(event);
    if (raw.phase == Raw::Phase::flow_out || raw.phase == Raw::Phase::flow_in) {
        raw.correlation = static_cast<std::uint64_t>(tables.number_of(event[Key::id])) + 1;
        return raw;
    }
    raw.kind = event.phase() == 'X' || raw.phase == Raw::Phase::begin ? kind_of_category(event.text(Key::cat))
                                                                      : Kind::marker;
    raw.name = raw.type = tables.name(event[Key::name]);
    return raw;
}

}  // namespace

extern const Format chrome_format = {"chrome", [](const Sample&) { return true; },
                                     [] { return Understand(understand_chrome); }, nullptr, true};

}  // namespace viridian::trace
