// ONNX Runtime's profile (core/common/profiler.cc): a bare list, whole microseconds since the start of the
// session. `Node` rows are operators ("_kernel_time" stripped), `Kernel` rows accelerator kernels written
// behind the node that launched them, `Session` and `Api` rows spans. Unnamed nodes are called by operator
// and index.
#include "viridian/trace/formats.hpp"

namespace viridian::trace {
namespace {

constexpr std::string_view suffix = "_kernel_time";
constexpr std::uint64_t cap = 1'000'000;  // the profiler stops there

bool recognises(const Sample& sample) {
    return sample.bare_list && (sample.has("Session") || sample.has("Node")) &&
           (sample.has("Session") || sample.has(Key::op_name) || sample.has(Key::provider));
}

bool understand(const JsonEvent& event, Intake& intake, Raw& raw) {
    if (raw.phase != Raw::Phase::slice) return false;
    const std::string_view category = event.text(Key::cat);
    const std::int64_t process = intake.number_of(event[Key::pid]);
    raw.lane = intake.lane(0, process, intake.number_of(event[Key::tid]));
    if (event.phase() != 'X') return false;
    raw.name = intake.name(event[Key::name]);
    std::string_view name = intake.about.names[raw.name];
    if (category == "Kernel") {
        const std::int64_t stream = integer(event.text(Key::stream)).value_or(0);
        raw.lane = intake.lane(intake.accelerator(0), process, stream);
        raw.kind = name.starts_with("Memcpy")   ? Kind::copy
                   : name.starts_with("Memset") ? Kind::fill
                                                : Kind::kernel;
        raw.type = event.has(Key::op_name) ? intake.name(event[Key::op_name]) : raw.name;
        raw.scope = event.has(Key::parent_name) ? intake.path_of(intake.name(event[Key::parent_name]))
                                                : intake.last_node;
        raw.path = raw.scope == 0 ? 0 : intake.about.paths.add(raw.scope, raw.name);
        if (!event.has(Key::parent_name))
            intake.about.warn("kernels joined to nodes by their place in the file", name);
        return true;
    }
    if (category != "Node") {
        raw.kind = Kind::scope;
        raw.type = raw.name;
        raw.no_part = true;
        return true;
    }
    if (name.ends_with("_fence_before") || name.ends_with("_fence_after")) return false;
    raw.type = intake.name(event[Key::op_name]);
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    if (name.empty())
        raw.name = intake.name(fmt::format("{}#{}", event.text(Key::op_name), event.text(Key::node_index)));
    else
        raw.name = intake.name(name);
    if (raw.type == 0) raw.type = raw.name;
    raw.path = intake.path_of(raw.name);
    raw.scope = intake.about.paths.parent(raw.path);
    intake.last_node = raw.path;
    return true;
}

void settle(Intake& intake, std::span<const std::pair<std::string, std::string>>) {
    if (intake.count() < cap) return;
    intake.about.capped = true;
    intake.about.warn("the profiler stopped at its limit of 1,000,000 events", "");
}

}  // namespace

const Format onnxruntime_format = {"onnxruntime", recognises, understand, settle};

}  // namespace viridian::trace
