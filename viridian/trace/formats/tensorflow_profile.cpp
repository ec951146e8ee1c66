// TensorFlow 2's trace.json.gz (xla/tsl/profiler/convert/trace_events_to_json.cc): no categories, an empty
// object at the end, all arguments text. Devices are processes ("/device:GPU:0", "/host:CPU"), rows are
// threads: of an accelerator's rows only its streams are work; "TensorFlow Ops", "XLA Modules", "Steps" and
// so on repeat them.
//
// | TensorFlow `trace.json` | `tf_op` "path:Type", `hlo_op` | `Stream #` rows are work; derived rows
// ("TensorFlow Ops", "Steps", …) are not | relative |
#include <algorithm>
#include <set>

#include "viridian/trace/formats/formats.hpp"

namespace viridian::trace {
namespace {

constexpr std::uint64_t tensorflow_profile_cap = 1'000'000;

bool recognises_tensorflow_profile(const Sample& sample) {
    const bool host = std::ranges::any_of(sample.processes, [](const std::string& name) {
        return name.starts_with("/host:") || name.starts_with("/device:");
    });
    return sample.categories.empty() && (host || sample.has(Key::tf_op) || sample.has(Key::hlo_op));
}

// "model/dense/MatMul:MatMul": a node and its type (tsl/profiler/utils/tf_op_utils.cc).
bool split(std::string_view text, std::string_view& node, std::string_view& type) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 >= text.size()) return false;
    node = text.substr(0, colon);
    type = text.substr(colon + 1);
    const auto word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    const bool capital = (type.front() >= 'A' && type.front() <= 'Z') || type.front() == '_';
    return capital && std::ranges::all_of(type, word) && node.find(' ') == std::string_view::npos &&
           node.find("::") == std::string_view::npos && node.back() != ':';
}

std::optional<Raw> understand_tensorflow_profile(const JsonEvent& event, Raw raw, TraceTables& tables) {
    if (raw.phase != Raw::Phase::slice || event.phase() != 'X') return std::nullopt;
    raw.lane = tables.lane(event);
    raw.correlation = static_cast<std::uint64_t>(integer(event.text(Key::correlation)).value_or(0));
    raw.name = raw.type = tables.name(event[Key::name]);
    const std::string_view name = tables.about.names[raw.name];
    const std::string_view long_name = event.has(Key::long_name) ? event.text(Key::long_name) : name;
    raw.kind = Kind::function;
    if (name.starts_with("Memcpy")) raw.kind = Kind::copy;
    if (name.starts_with("Memset")) raw.kind = Kind::fill;
    std::string_view node, type;
    if (split(event.has(Key::tf_op) ? event.text(Key::tf_op) : long_name, node, type)) {
        raw.type = tables.name(type);
        raw.scope = tables.path_of(tables.name(node));
        if (raw.kind == Kind::function) raw.kind = Kind::operation;
        const bool is_node =
            !event.has(Key::tf_op) || event.text(Key::tf_op) == name;  // else a kernel of the node
        raw.path = is_node ? raw.scope : tables.about.paths.add(raw.scope, raw.name);
        if (is_node) {
            raw.scope = tables.about.paths.parent(raw.path);
            raw.name = tables.about.paths.part(raw.path);
        }
    } else if (event.has(Key::hlo_op)) {
        raw.type = tables.name(event[Key::hlo_op]);
        raw.scope = tables.path_of(tables.name(event[Key::hlo_module]));
        raw.path = tables.about.paths.add(raw.scope, raw.name);
        if (raw.kind == Kind::function) raw.kind = Kind::operation;
    }
    return raw;
}

void settle_tensorflow_profile(TraceTables& tables, const TraceEnd& end) {
    Trace& about = tables.about;
    tables.rules.resize(about.lanes.size());
    const auto row = [&](const Lane& lane) -> std::string_view {
        return tables.thread_name(lane.process, lane.thread);
    };
    std::set<std::int64_t> with_streams;  // processes
    for (const Lane& lane : about.lanes)
        if (row(lane).starts_with("Stream #")) with_streams.insert(lane.process);
    for (std::size_t i = 0; i < tables.rules.size(); ++i) {
        Lane& lane = about.lanes[i];
        const std::string_view process = tables.process_name(lane.process);
        if (!process.starts_with("/device:") || process.starts_with("/device:CPU")) continue;
        const std::size_t colon = process.rfind(':');
        const std::string_view digits = process.substr(colon + 1);
        const std::int64_t number =
            integer(digits.substr(0, std::min(digits.find_first_not_of("0123456789"), digits.size())))
                .value_or(0);
        lane.device = process.find("TPU") != std::string_view::npos
                          ? about.device(fmt::format("tpu:{}", number))
                          : tables.accelerator(number);
        tables.rules[i].kind = Kind::kernel;
        tables.rules[i].drop =
            !row(lane).starts_with("Stream #") &&
            (with_streams.contains(lane.process) || (row(lane) != "XLA Ops" && !row(lane).empty()));
    }
    if (end.events < tensorflow_profile_cap) return;
    about.capped = true;
    about.warn("the profiler stopped at its limit of 1,000,000 events", "");
}

}  // namespace

extern const Format tensorflow_profile_format = {"tensorflow-profile", recognises_tensorflow_profile,
                                                 [] { return Understand(understand_tensorflow_profile); },
                                                 settle_tensorflow_profile};

}  // namespace viridian::trace
