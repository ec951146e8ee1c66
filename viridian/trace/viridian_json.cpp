// Viridian's own JSON (write_json.cpp): Kineto's layout, so that other tools read it, with each event's path,
// scope, type and pass as numbers and names, and the tables they point into under "viridian" behind the
// events.
#include <algorithm>

#include "viridian/base/json.hpp"
#include "viridian/trace/formats.hpp"

namespace viridian::trace {
namespace {

constexpr PathId unknown_path = 0;

bool recognises(const Sample& sample) { return sample.top.contains("viridianTrace"); }

Kind kind_named(std::string_view name, Kind otherwise) {
    for (int kind = 0; kind < kind_count; ++kind)
        if (name_of(static_cast<Kind>(kind)) == name) return static_cast<Kind>(kind);
    return otherwise;
}

std::uint32_t index_of(const JsonValue& value) {
    const auto number = integer(value.text);
    return number && *number >= 0 && *number < 1'000'000'000 ? static_cast<std::uint32_t>(*number)
                                                             : unknown_path;
}

// Paths and lanes keep the file's numbers until `settle`.
bool understand(const JsonEvent& event, Intake& intake, Raw& raw) {
    if (raw.phase != Raw::Phase::slice) return false;
    raw.kind = kind_named(event.text(Key::kind), kind_of_category(event.text(Key::cat)));
    if (event.phase() == 'i') raw.kind = Kind::marker;
    raw.lane = intake.lane(0, intake.number_of(event[Key::pid]), intake.number_of(event[Key::tid]));
    raw.name = intake.name(event[Key::name]);
    raw.type = event.has(Key::type) ? intake.name(event[Key::type]) : raw.name;
    raw.path = index_of(event[Key::path]);
    raw.scope = index_of(event[Key::scope]);
    raw.correlation = static_cast<std::uint64_t>(integer(event.text(Key::correlation)).value_or(0));
    raw.external = static_cast<std::uint64_t>(integer(event.text(Key::external_id)).value_or(0));
    raw.sequence = std::max<std::int64_t>(integer(event.text(Key::sequence)).value_or(-1), -1);
    raw.forward_thread = static_cast<std::uint32_t>(integer(event.text(Key::forward_thread)).value_or(0));
    const std::string_view pass = event.text(Key::pass);
    raw.pass = pass == "forward" ? Pass::forward : pass == "backward" ? Pass::backward : Pass::unknown;
    return true;
}

}  // namespace

const Format viridian_json_format = {"viridian-json", recognises, understand, nullptr};

}  // namespace viridian::trace
