// TensorFlow 1's Timeline (tensorflow/python/client/timeline.py): `cat` "Op", `name` the operator type, the
// node's name and its inputs in `args`; devices are processes named "<device> Compute". The same kernel can
// stand in
// ".../stream:N", ".../stream:all", ".../memcpy" and as its launch in "/job:.../GPU:0": one counts.
//
// | TensorFlow timeline | `args.name`, type from `args.op`; inputs become `edges` | `/stream:N` counts;
// `/stream:all`, `/memcpy` only without it; `/job…GPU` is the launch | since 1970, µs |
#include <set>

#include "viridian/trace/formats/formats.hpp"

namespace viridian::trace {
namespace {

bool recognises_tensorflow_timeline(const Sample& sample) {
    return sample.has("Op") && sample.has(Key::arg_op);
}

// "name:0" without its output number.
std::string_view node_of(std::string_view tensor) { return tensor.substr(0, tensor.rfind(':')); }

std::optional<Raw> understand_tensorflow_timeline(const JsonEvent& event, Raw raw, TraceTables& tables) {
    if (raw.phase != Raw::Phase::slice || event.phase() != 'X') return std::nullopt;
    raw.lane = tables.lane(event);
    raw.type = tables.name(event[event.has(Key::arg_op) ? Key::arg_op : Key::name]);
    const NameId whole = tables.name(event[event.has(Key::arg_name) ? Key::arg_name : Key::name]);
    name_path(tables, raw, node_of(tables.about.names[whole]));
    raw.name = tables.about.paths.part(raw.path);
    const std::string_view type = tables.about.names[raw.type];
    if (type.starts_with("MEMCPY") || type.starts_with("Memcpy")) raw.kind = Kind::copy;
    if (type.starts_with("MEMSET") || type.starts_with("Memset")) raw.kind = Kind::fill;
    for (const JsonValue& input : event.inputs) {
        if (input.text.empty() || input.text.front() == '^') continue;  // order only, no data
        const std::string_view text = tables.about.names[tables.name(input)];
        tables.edge(tables.path_of(tables.name(node_of(text))), raw.path);
    }
    return raw;
}

struct Row {
    bool gpu = false, stream = false, all = false, memcpy = false, tensors = false;
    std::int64_t device = 0;
};

Row row_of(std::string_view process) {
    Row row;
    std::size_t at = process.find("GPU:");
    if (at == std::string_view::npos) at = process.find("gpu:");
    row.gpu = at != std::string_view::npos;
    if (row.gpu) {
        const std::string_view digits = process.substr(at + 4);
        row.device =
            integer(digits.substr(0, std::min(digits.find_first_not_of("0123456789"), digits.size())))
                .value_or(0);
    }
    row.all = process.find("/stream:all") != std::string_view::npos;
    row.stream = !row.all && process.find("/stream:") != std::string_view::npos;
    row.memcpy = process.find("/memcpy") != std::string_view::npos;
    row.tensors = process.ends_with("Tensors");
    return row;
}

void settle_tensorflow_timeline(TraceTables& tables, const TraceEnd&) {
    Trace& about = tables.about;
    std::vector<Row> rows;
    for (const Lane& lane : about.lanes) rows.push_back(row_of(tables.process_name(lane.process)));
    std::set<std::int64_t> with_streams, with_all;  // devices
    for (const Row& row : rows) {
        if (row.gpu && row.stream) with_streams.insert(row.device);
        if (row.gpu && row.all) with_all.insert(row.device);
    }
    tables.rules.resize(rows.size());
    for (std::size_t lane = 0; lane < rows.size(); ++lane) {
        const Row& row = rows[lane];
        TraceTables::Rule& rule = tables.rules[lane];
        rule.drop = row.tensors;
        if (!row.gpu) continue;
        const bool streams = with_streams.contains(row.device);
        const bool all = with_all.contains(row.device);
        if (row.all) rule.drop = streams;
        if (row.memcpy) rule.drop = streams || all;
        if (row.all || row.stream || row.memcpy || !(streams || all)) {
            rule.kind = row.memcpy ? Kind::copy : Kind::kernel;
            about.lanes[lane].device = tables.accelerator(row.device);
        } else {
            rule.kind = Kind::launch;  // the host's side of accelerator operators
        }
    }
}

}  // namespace

extern const Format tensorflow_timeline_format = {"tensorflow-timeline", recognises_tensorflow_timeline,
                                                  [] { return Understand(understand_tensorflow_timeline); },
                                                  settle_tensorflow_timeline};

}  // namespace viridian::trace
