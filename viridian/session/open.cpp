#include "viridian/session/open.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "viridian/base/system/build_id.hpp"
#include "viridian/base/system/memory_limit.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/data_flow.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/session/as_f32.hpp"

namespace viridian::session {
namespace {

Result<void> bind_dimensions(graph::Graph& graph, const std::vector<std::string>& bindings) {
    std::set<std::string> names;
    for (const std::string& binding : bindings) {
        const auto equals = binding.rfind('=');
        std::int64_t value = 0;
        const char* end = binding.data() + binding.size();
        const char* begin = equals == std::string::npos ? end : binding.data() + equals + 1;
        const auto [stopped, error] = std::from_chars(begin, end, value);
        if (error != std::errc() || stopped != end || value < 1 || equals == 0)
            return fail(ErrorCode::invalid_argument, "write it as --dim N=8", "`{}` binds no dimension",
                        binding);
        if (!names.insert(binding.substr(0, equals)).second)
            return fail(ErrorCode::invalid_argument, "give each dimension once", "--dim names `{}` twice",
                        binding.substr(0, equals));
        VIRIDIAN_TRY(graph::bind_dimension(graph, binding.substr(0, equals), value));
    }
    return {};
}

// The first dimension of every input: symbols become `batch`, numbers must be it already.
Result<void> bind_batch(graph::Graph& graph, std::int64_t batch) {
    if (batch == 0) return {};
    bool any = false;
    for (const graph::ValueId id : graph.inputs()) {
        const graph::Value& value = graph.value(id);
        if (!value.type.shape || value.type.shape->empty()) continue;
        const graph::Dimension first = value.type.shape->front();
        if (!first.symbol().empty()) {
            VIRIDIAN_TRY(graph::bind_dimension(graph, first.symbol(), batch));
            any = true;
        } else if (first.known()) {
            any = any || first.value() == batch;
        }
    }
    if (any) return {};
    return fail(ErrorCode::invalid_argument, "export it with a symbolic batch dimension (dynamic axes)",
                "the model's batch is fixed, it cannot become {}", batch);
}

}  // namespace

Result<void> bind_sizes(graph::Graph& graph, const std::vector<std::string>& dimensions, std::int64_t batch) {
    VIRIDIAN_TRY(bind_dimensions(graph, dimensions));
    return bind_batch(graph, batch);
}

Result<void> check_memory(const graph::Graph& graph, const ModelOptions& options) {
    VIRIDIAN_TRY(const graph::MemoryNeed need, graph::memory_need(graph));
    return check_need(need.total(), options);
}

Result<std::optional<Bytes>> memory_left(const graph::Graph& graph, const ModelOptions& options) {
    if (options.memory.empty()) return std::optional<Bytes>();
    VIRIDIAN_TRY(const graph::MemoryNeed need, graph::memory_need(graph));
    VIRIDIAN_TRY(const Bytes allowed, parse_size(options.memory));
    return std::optional(Bytes(std::max<std::int64_t>(0, allowed.value - need.total().value)));
}

Result<Bytes> allowed_memory(const ModelOptions& options) {
    return options.memory.empty() ? Result<Bytes>(usual_memory_limit()) : parse_size(options.memory);
}

Result<void> check_need(Bytes needed, const ModelOptions& options) {
    VIRIDIAN_TRY(const Bytes allowed, allowed_memory(options));
    if (needed <= allowed) return {};
    const std::string needs =
        fmt::format("`{}` needs {} of memory for its weights, inputs and intermediate values", options.model,
                    size_text_up(needed));
    if (!options.memory.empty())
        return fail(ErrorCode::limit_exceeded,
                    "choose smaller sizes with --dim or --batch, or raise --memory",
                    "{}, and --memory allows {}", needs, size_text(allowed));
    return fail(ErrorCode::out_of_memory,
                "choose smaller sizes with --dim or --batch, or allow more with --memory",
                "{}, and {} may be used, which is three quarters of what is free", needs, size_text(allowed));
}

Result<Bytes> memory_need(const graph::Graph& graph, const plan::Plan& plan) {
    VIRIDIAN_TRY(const graph::MemoryNeed need, graph::memory_need(graph));
    Bytes sum = need.constants + Bytes(plan.arena_bytes + plan.state_bytes + plan.workspace_bytes);
    for (const plan::Buffer& buffer : plan.buffers)
        if (buffer.external && !buffer.view_of) sum += Bytes(buffer.bytes);
    return sum;
}

Result<void> check_memory(const graph::Graph& graph, const plan::Plan& plan, const ModelOptions& options) {
    VIRIDIAN_TRY(const Bytes need, memory_need(graph, plan));
    return check_need(need, options);
}

Result<graph::Graph> load_model(const ModelOptions& options, Listener* listener) {
    VIRIDIAN_TRY(graph::Graph graph, onnx::load(options.model, {}, listener));
    if (graph.outputs().empty() && graph.states().empty())
        return fail(ErrorCode::unsupported, "export it with the outputs you want",
                    "the model `{}` has no outputs, so nothing in it needs computing", options.model);
    VIRIDIAN_TRY(bind_sizes(graph, options.dimensions, options.batch));
    if (auto error = graph::free_dimensions_error(graph)) return *std::move(error);
    VIRIDIAN_TRY(graph::infer_types(graph));
    if (options.runs) VIRIDIAN_TRY(check_memory(graph, options));
    if (options.as.empty()) return graph;
    VIRIDIAN_TRY(Widened wide, as_f32(graph));
    if (listener != nullptr)
        listener->note(wide.any()
                           ? fmt::format("the model is taken in f32: {} of its nodes computed in f16 or "
                                         "bf16, {} pairs of nodes rounded to integers and back",
                                         wide.nodes, wide.quantised_pairs)
                           : "nothing in the model computes in f16, bf16 or quantised integers");
    return std::move(wide.graph);
}

Result<std::unique_ptr<execute::Device>> open_device(const ModelOptions& options) {
    execute::CpuOptions cpu;
    cpu.threads = options.threads;
    cpu.pin = options.pin;
    cpu.allowances.bf16 = allows_bf16(options);
    cpu.allowances.winograd = cpu.allowances.strassen = !options.exact_arithmetic;
    if (!options.memory.empty()) {
        VIRIDIAN_TRY(cpu.memory, parse_size(options.memory));
    }
    return execute::make_cpu_device(cpu);
}

Result<cost::Database> open_database(const ModelOptions& options) {
    return options.database.empty() ? cost::Database::temporary() : cost::Database::open(options.database);
}

prove::ReferenceCache reference_cache(const ModelOptions& options) {
    if (options.database.empty()) return {{}, ""};
    return {Path(options.database + ".reference"), build_id()};
}

profile::EnergyOptions energy_options(const ModelOptions& options) {
    return {options.meter, options.meter_paths,
            options.idle_power == "share" ? cost::IdlePower::share : cost::IdlePower::whole};
}

bool allows_bf16(const ModelOptions& options) {
    return std::find(options.allow.begin(), options.allow.end(), "bf16") != options.allow.end();
}

std::string allowances_text(const ModelOptions& options) {
    return fmt::format("f32{}{}", allows_bf16(options) ? ",bf16" : "",
                       options.exact_arithmetic ? ",exact" : "");
}

}  // namespace viridian::session
