// ONNX Runtime's profile (core/common/profiler.cc): a bare list, whole microseconds since the start of the
// session. `Node` rows are operators ("_kernel_time" stripped), `Kernel` rows accelerator kernels written
// behind the node that launched them, `Session` and `Api` rows spans. Unnamed nodes are called by operator
// and index.
//
// | ONNX Runtime profile | node names (`_kernel_time` stripped; unnamed: `Conv#7`), type from `op_name` |
// `Kernel` rows by `parent_name`, else by their place behind the node (counted warning) | relative, µs |
#include "viridian/trace/formats/formats.hpp"

namespace viridian::trace {
namespace {

constexpr std::string_view suffix = "_kernel_time";
constexpr std::uint64_t onnxruntime_cap = 1'000'000;  // the profiler stops there

bool recognises_onnxruntime(const Sample& sample) {
    return sample.bare_list && (sample.has("Session") || sample.has("Node")) &&
           (sample.has("Session") || sample.has(Key::op_name) || sample.has(Key::provider));
}

class OnnxRuntimeReader {
  public:
    std::optional<Raw> operator()(const JsonEvent& event, Raw raw, TraceTables& tables) {
        if (raw.phase != Raw::Phase::slice) return std::nullopt;
        const std::string_view category = event.text(Key::cat);
        const std::int64_t process = tables.number_of(event[Key::pid]);
        raw.lane = tables.lane(0, process, tables.number_of(event[Key::tid]));
        if (event.phase() != 'X') return std::nullopt;
        raw.name = tables.name(event[Key::name]);
        std::string_view name = tables.about.names[raw.name];
        if (category == "Kernel") {
            const std::int64_t stream = integer(event.text(Key::stream)).value_or(0);
            raw.lane = tables.lane(tables.accelerator(0), process, stream);
            raw.kind = name.starts_with("Memcpy")   ? Kind::copy
                       : name.starts_with("Memset") ? Kind::fill
                                                    : Kind::kernel;
            raw.type = event.has(Key::op_name) ? tables.name(event[Key::op_name]) : raw.name;
            raw.scope = event.has(Key::parent_name) ? tables.path_of(tables.name(event[Key::parent_name]))
                                                    : last_node_;
            raw.path = raw.scope == 0 ? 0 : tables.about.paths.add(raw.scope, raw.name);
            if (!event.has(Key::parent_name))
                tables.about.warn("kernels joined to nodes by their place in the file", name);
            return raw;
        }
        if (category != "Node") {
            raw.kind = Kind::scope;
            raw.type = raw.name;
            raw.no_part = true;
            return raw;
        }
        if (name.ends_with("_fence_before") || name.ends_with("_fence_after")) return std::nullopt;
        raw.type = tables.name(event[Key::op_name]);
        if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
        if (name.empty())
            raw.name =
                tables.name(fmt::format("{}#{}", event.text(Key::op_name), event.text(Key::node_index)));
        else
            raw.name = tables.name(name);
        if (raw.type == 0) raw.type = raw.name;
        raw.path = tables.path_of(raw.name);
        raw.scope = tables.about.paths.parent(raw.path);
        last_node_ = raw.path;
        return raw;
    }

  private:
    PathId last_node_ = 0;  // kernels stand behind the node that launched them
};

void settle_onnxruntime(TraceTables& tables, const TraceEnd& end) {
    if (end.events < onnxruntime_cap) return;
    tables.about.capped = true;
    tables.about.warn("the profiler stopped at its limit of 1,000,000 events", "");
}

}  // namespace

extern const Format onnxruntime_format = {"onnxruntime", recognises_onnxruntime,
                                          [] { return Understand(OnnxRuntimeReader()); }, settle_onnxruntime};

}  // namespace viridian::trace
