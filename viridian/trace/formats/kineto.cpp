// PyTorch's profiler (libkineto/src/output_json.cpp): operators on threads, kernels with device and stream in
// their arguments, launches with the same correlation number. Times: microseconds with three decimals since
// `baseTimeNanoseconds`; older files have no base and write the whole time since 1970, still older ones only
// whole microseconds. Module calls are `python_function` events named "nn.Module: Linear_0", or, in what
// `viridian record --torch` writes, events of the category `viridian_module` with the module's whole path and
// class. The node that adds a gradient to its parameter, AccumulateGrad, has no forward operator. The
// autograd engine runs it directly after the node that made the gradient (torch/csrc/autograd/engine.cpp,
// CompareNodeTaskTime: it has the largest sequence number), so it belongs to that node's module.
//
// | PyTorch Kineto, old and new | modules (`record --torch`, `nn.Module: Linear_0` rows, user scopes, `Module
// Hierarchy`), nested operators | kernel → launch by `correlation`, else operator by `External id`; backward
// → forward by `Sequence number` | ns since 1970 (`baseTimeNanoseconds` or whole times); µs in the oldest |
#include "viridian/trace/formats/formats.hpp"

namespace viridian::trace {
namespace {

constexpr std::string_view module_prefix = "nn.Module: ";
constexpr std::string_view backward_prefix = "autograd::engine::evaluate_function: ";
constexpr std::string_view accumulates = "torch::autograd::AccumulateGrad";
constexpr std::string_view optimizer_prefix = "Optimizer.";  // "Optimizer.step#SGD.step"

bool recognises_kineto(const Sample& sample) {
    return sample.top.contains("schemaVersion") || sample.has("cpu_op") || sample.has("cuda_runtime") ||
           sample.has("gpu_memcpy") || sample.has("python_function") || sample.has("user_annotation") ||
           sample.has("ac2g");
}

bool on_accelerator(Kind kind, std::string_view category) {
    return (is_work(kind) && kind != Kind::operation) || category == "gpu_user_annotation" ||
           category == "cuda_sync" || category == "cuda_event";
}

std::uint64_t unsigned_of(const JsonValue& value) {
    return static_cast<std::uint64_t>(integer(value.text).value_or(0));
}

// "Linear" of "Linear_0"
std::string_view class_of(std::string_view module) {
    std::string_view name = module;
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
    const bool numbered = name.size() < module.size() && name.size() > 1 && name.back() == '_';
    return numbered ? name.substr(0, name.size() - 1) : module;
}

// One call of a module as `viridian record --torch` writes it; without a class it is that of a wrapper.
Raw understand_module(const JsonEvent& event, Raw raw, TraceTables& tables) {
    raw.kind = event.has(Key::type) ? Kind::module : Kind::scope;
    raw.lane = tables.lane(0, tables.number_of(event[Key::pid]), tables.number_of(event[Key::tid]));
    raw.name = tables.name(event[Key::name]);
    raw.type = event.has(Key::type) ? tables.name(event[Key::type]) : raw.name;
    raw.path = raw.scope = tables.path_of(tables.name(event[Key::path]), '/');
    raw.whole = true;
    raw.pass = Pass::forward;
    return raw;
}

std::optional<Raw> understand_kineto(const JsonEvent& event, Raw raw, TraceTables& tables) {
    if (raw.phase == Raw::Phase::flow_out || raw.phase == Raw::Phase::flow_in)
        return std::nullopt;  // correlation says more
    const std::string_view category = event.text(Key::cat);
    if (category == "Trace") return std::nullopt;  // spans the recording
    if (category == "viridian_module" && event.has(Key::path)) return understand_module(event, raw, tables);
    raw.kind = kind_of_category(category);
    if (event.phase() != 'X' && raw.phase == Raw::Phase::slice) raw.kind = Kind::marker;
    if (raw.start == 0 && raw.end == 0) {  // the profiler's mark of a time it never got
        tables.about.warn("events without a time (ts and dur are 0)", "");
        ++tables.about.lost_events;
        return std::nullopt;
    }
    const std::int64_t process = tables.number_of(event[Key::pid]);
    if (on_accelerator(raw.kind, category)) {
        const std::int64_t device = integer(event.text(Key::device)).value_or(process);
        const std::int64_t stream =
            integer(event.text(Key::stream)).value_or(tables.number_of(event[Key::tid]));
        raw.lane = tables.lane(tables.accelerator(device), process, stream);
    } else {
        raw.lane = tables.lane(0, process, tables.number_of(event[Key::tid]));
    }
    raw.correlation = unsigned_of(event[Key::correlation]);
    raw.external = unsigned_of(event[Key::external_id]);
    if (raw.kind == Kind::scope) {
        name_scope(tables, raw, event[Key::name]);
        const std::string_view name = tables.about.names[raw.name];
        if (name.starts_with(optimizer_prefix) && name.find('#') != std::string_view::npos)
            raw.pass = Pass::update;
        return raw;
    }
    JsonValue name = event[Key::name];
    if (raw.kind == Kind::function && name.text.starts_with(module_prefix)) {
        name.text.remove_prefix(module_prefix.size());
        raw.kind = Kind::module;
    }
    raw.name = raw.type = tables.name(name);
    if (raw.kind == Kind::module) raw.type = tables.name(class_of(tables.about.names[raw.name]));
    if (raw.kind != Kind::operation) return raw;
    raw.sequence = std::max<std::int64_t>(integer(event.text(Key::sequence)).value_or(-1), -1);
    raw.forward_thread = static_cast<std::uint32_t>(unsigned_of(event[Key::forward_thread]));
    if (raw.forward_thread != 0 || name.text.starts_with(backward_prefix)) raw.pass = Pass::backward;
    if (raw.sequence < 0 && name.text.starts_with(backward_prefix) && name.text.ends_with(accumulates))
        raw.sequence = Raw::follows;
    if (!event.text(Key::module_hierarchy).empty()) {
        raw.scope = tables.path_of(tables.name(event[Key::module_hierarchy]), '.');
        raw.path = tables.about.paths.add(raw.scope, raw.name);
    }
    return raw;
}

}  // namespace

extern const Format kineto_format = {"kineto", recognises_kineto,
                                     [] { return Understand(understand_kineto); }};

}  // namespace viridian::trace
