// The bare list of PyTorch's older profiler and of builds without Kineto (torch/autograd/profiler_util.py):
// no categories, text pids "CPU functions" and "CUDA functions", times since the start of the profile, flows
// "cpu_to_cuda" from operators to kernels. User scopes are not marked: names without "::" that are no
// backward node are scopes.
//
// | PyTorch legacy list | scopes are names without `::`; `a/b` and `a.b` are parts | `cpu_to_cuda` flows;
// `Sequence number` where a writer adds it | relative |
#include <algorithm>

#include "viridian/trace/formats/formats.hpp"

namespace viridian::trace {
namespace {

bool recognises_torch_legacy(const Sample& sample) {
    return sample.bare_list && sample.processes.contains("CPU functions");
}

// "AddmmBackward0", "torch::autograd::AccumulateGrad"
bool is_backward_node(std::string_view name) {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
    return name.ends_with("Backward");
}

std::optional<Raw> understand_torch_legacy(const JsonEvent& event, Raw raw, TraceTables& tables) {
    if (event.phase() == 'i' || event.phase() == 'C') return std::nullopt;
    const bool accelerator = event.text(Key::pid) != "CPU functions";
    const std::int64_t process = tables.number_of(event[Key::pid]);
    const std::int64_t thread = tables.number_of(event[Key::tid]);
    raw.lane =
        accelerator ? tables.lane(tables.accelerator(thread), process, 0) : tables.lane(0, process, thread);
    if (raw.phase == Raw::Phase::flow_out || raw.phase == Raw::Phase::flow_in) {
        raw.correlation = static_cast<std::uint64_t>(tables.number_of(event[Key::id])) + 1;
        return raw;
    }
    const std::string_view name = event.text(Key::name);
    if (accelerator) {
        raw.kind = name.starts_with("Memcpy")   ? Kind::copy
                   : name.starts_with("Memset") ? Kind::fill
                                                : Kind::kernel;
    } else if (name.find("::") == std::string_view::npos && !is_backward_node(name)) {
        name_scope(tables, raw, event[Key::name]);
        return raw;
    }
    raw.name = raw.type = tables.name(event[Key::name]);
    if (name.starts_with("autograd::engine::evaluate_function: ") || is_backward_node(name))
        raw.pass = Pass::backward;
    raw.sequence = std::max<std::int64_t>(integer(event.text(Key::sequence)).value_or(-1), -1);
    return raw;
}

}  // namespace

extern const Format torch_legacy_format = {"torch-legacy", recognises_torch_legacy,
                                           [] { return Understand(understand_torch_legacy); }};

}  // namespace viridian::trace
