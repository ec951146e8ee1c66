// Any other trace in Chrome's format ("Trace Event Format", the Chromium project): X, B and E slices,
// counters, instants, and flows, which are read as data flow between the slices that they bind to.
#include "viridian/trace/formats.hpp"

namespace viridian::trace {
namespace {

bool understand(const JsonEvent& event, Intake& intake, Raw& raw) {
    raw.lane = intake.lane(0, intake.number_of(event[Key::pid]), intake.number_of(event[Key::tid]));
    if (raw.phase == Raw::Phase::flow_out || raw.phase == Raw::Phase::flow_in) {
        raw.correlation = static_cast<std::uint64_t>(intake.number_of(event[Key::id])) + 1;
        return true;
    }
    raw.kind = event.phase() == 'X' || raw.phase == Raw::Phase::begin ? kind_of_category(event.text(Key::cat))
                                                                      : Kind::marker;
    raw.name = raw.type = intake.name(event[Key::name]);
    return true;
}

}  // namespace

const Format chrome_format = {"chrome", [](const Sample&) { return true; }, understand, nullptr};

}  // namespace viridian::trace
