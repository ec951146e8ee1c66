// Viridian's own JSON (write_json.cpp): Kineto's layout, so that other tools read it, with each event's path,
// scope, type and pass as numbers and names, and the tables they point into under "viridian" behind the
// events.
//
// | Viridian JSON, binary | all, lossless | all | as recorded |
#include <algorithm>

#include "viridian/base/json.hpp"
#include "viridian/trace/formats/formats.hpp"

namespace viridian::trace {
namespace {

constexpr PathId unknown_path = 0;

bool recognises_viridian_json(const Sample& sample) { return sample.top.contains("viridianTrace"); }

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
std::optional<Raw> understand_viridian_json(const JsonEvent& event, Raw raw, TraceTables& tables) {
    if (raw.phase != Raw::Phase::slice) return std::nullopt;
    raw.kind = kind_named(event.text(Key::kind), kind_of_category(event.text(Key::cat)));
    if (event.phase() == 'i') raw.kind = Kind::marker;
    raw.lane = tables.lane(event);
    raw.name = tables.name(event[Key::name]);
    raw.type = event.has(Key::type) ? tables.name(event[Key::type]) : raw.name;
    raw.path = index_of(event[Key::path]);
    raw.whole = event.has(Key::path);
    raw.scope = index_of(event[Key::scope]);
    raw.correlation = static_cast<std::uint64_t>(integer(event.text(Key::correlation)).value_or(0));
    raw.external = static_cast<std::uint64_t>(integer(event.text(Key::external_id)).value_or(0));
    raw.sequence = std::max<std::int64_t>(integer(event.text(Key::sequence)).value_or(-1), -1);
    raw.forward_thread = static_cast<std::uint32_t>(integer(event.text(Key::forward_thread)).value_or(0));
    const std::string_view pass = event.text(Key::pass);
    for (int i = 0; i < pass_count; ++i)
        if (pass == name_of(static_cast<Pass>(i))) raw.pass = static_cast<Pass>(i);
    return raw;
}

// The tables: lanes of the file's (process, thread) numbers get their own, paths the numbers that events use.
// Without a whole table (a cut file) events are named by nesting.
void settle_viridian_json(TraceTables& tables, const TraceEnd& end) {
    Trace& about = tables.about;
    const auto found = std::ranges::find(end.top, "viridian", &std::pair<std::string, std::string>::first);
    const Result<Json> parsed = parse_json(found == end.top.end() ? "" : found->second, "viridian");
    if (!parsed.ok()) return about.warn("the tables behind the events are missing", "");
    try {
        const Json& file = *parsed;
        std::vector<std::string> devices = file.at("devices");
        std::vector<Lane> lanes = about.lanes;
        for (Lane& lane : lanes) {
            if (lane.thread < 1) continue;  // a counter track that was drawn in
            const Json& row = file.at("lanes").at(static_cast<std::size_t>(lane.thread - 1));
            lane = {row.at(0).get<DeviceId>(), row.at(1), row.at(2), row.at(3)};
            if (lane.device >= devices.size())
                return about.warn("the tables behind the events are damaged", "");
        }
        PathId next = 0;
        for (const Json& row : file.at("paths")) {
            const PathId parent = row.at(0);
            if (parent > next ||
                about.paths.add(parent, tables.name(row.at(1).get<std::string>())) != next + 1)
                return about.warn("the tables behind the events are damaged", "");
            ++next;
        }
        for (const Json& row : file.at("edges")) {
            const Edge edge{row.at(0), row.at(1), row.at(2)};
            if (edge.from <= next && edge.to <= next) about.edges.push_back(edge);
        }
        for (const Json& row : file.at("warnings"))
            about.warn(row.at(0).get<std::string>(), row.at(2).get<std::string>(), row.at(1));
        about.lanes = std::move(lanes);
        about.devices = std::move(devices);
        tables.file_names_lanes = true;
        about.format = file.at("format");
        about.source = file.at("source");
        about.clock.zero = file.at("clock") == "unix" ? Clock::Zero::unix_epoch : Clock::Zero::unknown;
        about.lost_events += file.at("lost_events").get<std::uint64_t>();
        about.capped = file.at("capped");
    } catch (const Json::exception&) {  // of this parser, inside this room
        about.warn("the tables behind the events are damaged", "");
    }
}

}  // namespace

extern const Format viridian_json_format = {"viridian-json", recognises_viridian_json,
                                            [] { return Understand(understand_viridian_json); },
                                            settle_viridian_json};

}  // namespace viridian::trace
