#include "viridian/session/open.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "viridian/base/system/build_id.hpp"
#include "viridian/execute/cpu/device.hpp"
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

Result<graph::Graph> load_model(const ModelOptions& options, Listener* listener) {
    VIRIDIAN_TRY(graph::Graph graph, onnx::load(options.model, {}, listener));
    if (graph.outputs().empty())
        return fail(ErrorCode::unsupported, "export it with the outputs you want",
                    "the model `{}` has no outputs, so nothing in it needs computing", options.model);
    VIRIDIAN_TRY(bind_sizes(graph, options.dimensions, options.batch));
    if (auto error = graph::free_dimensions_error(graph)) return *std::move(error);
    VIRIDIAN_TRY(graph::infer_types(graph));
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
    return execute::make_cpu_device(cpu);
}

Result<cost::Database> open_database(const ModelOptions& options) {
    return options.database.empty() ? cost::Database::temporary() : cost::Database::open(options.database);
}

prove::ReferenceCache reference_cache(const ModelOptions& options) {
    if (options.database.empty()) return {{}, ""};
    return {Path(options.database + ".reference"), build_id()};
}

bool allows_bf16(const ModelOptions& options) {
    return std::find(options.allow.begin(), options.allow.end(), "bf16") != options.allow.end();
}

std::string allowances_text(const ModelOptions& options) { return allows_bf16(options) ? "f32,bf16" : "f32"; }

}  // namespace viridian::session
