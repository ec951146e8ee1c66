#include "viridian/cli/model_session.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

#include "viridian/base/build_id.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {
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

Result<void> check_bound(const graph::Graph& graph) {
    for (const graph::ValueId id : graph.inputs()) {
        const graph::Value& value = graph.value(id);
        if (value.type.known()) continue;
        if (value.type.shape)
            for (const graph::Dimension& dimension : *value.type.shape)
                if (!dimension.symbol().empty())
                    return fail(ErrorCode::missing_entry,
                                fmt::format("add --dim {}=1, or the size you serve", dimension.symbol()),
                                "the input `{}` is {}", value.name, text(value.type));
        return fail(ErrorCode::unsupported, "export the model with the shapes of its inputs",
                    "the input `{}` is {}", value.name, text(value.type));
    }
    return {};
}

Path cache_folder() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') return cache;
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
        return Path(home) / ".cache";
    return ".";
}

}  // namespace

void add_model_options(CLI::App& app, ModelOptions& options) {
    app.add_option("MODEL", options.model, "An .onnx file")->required();
    app.add_option("--dim", options.dimensions,
                   "Bind a symbolic dimension, as N=8; may be given several times");
    app.add_option("--batch", options.batch, "Bind the inputs' first dimension")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
    app.add_option("--threads", options.threads, "Threads (default: physical cores)")
        ->check(CLI::Range(1, 1024));
}

void add_cost_options(CLI::App& app, ModelOptions& options) {
    app.add_option("--db", options.database, "Cost database (default: ~/.cache/viridian/cost.db)");
    app.add_option("--allow", options.allow, "Precisions beyond f32: bf16")->check(CLI::IsMember({"bf16"}));
    app.add_option("--meter", options.meter,
                   "Energy meter (default: the best that works here; `model` estimates)");
    app.add_flag(
        "--no-pin", options.no_pin,
        "Leave threads to the system's scheduler (default: one per core, the first that this process "
        "may use)");
}

Result<void> bind_sizes(graph::Graph& graph, const std::vector<std::string>& dimensions, std::int64_t batch) {
    VIRIDIAN_TRY(bind_dimensions(graph, dimensions));
    return bind_batch(graph, batch);
}

Result<graph::Graph> load_model(const ModelOptions& options) {
    VIRIDIAN_TRY(graph::Graph graph, onnx::load(options.model));
    if (graph.outputs().empty())
        return fail(ErrorCode::unsupported, "export it with the outputs you want",
                    "the model `{}` has no outputs, so nothing in it needs computing", options.model);
    VIRIDIAN_TRY(bind_sizes(graph, options.dimensions, options.batch));
    VIRIDIAN_TRY(check_bound(graph));
    VIRIDIAN_TRY(graph::infer_types(graph));
    return graph;
}

Result<std::unique_ptr<execute::Device>> open_device(const ModelOptions& options) {
    execute::CpuOptions cpu;
    cpu.threads = options.threads;
    cpu.pin = !options.no_pin;
    cpu.allowances.bf16 = allows_bf16(options);
    return execute::make_cpu_device(cpu);
}

Result<cost::Database> open_database(const ModelOptions& options) {
    return cost::Database::open(database_path(options));
}

Path database_path(const ModelOptions& options) {
    return options.database.empty() ? cache_folder() / "viridian" / "cost.db" : Path(options.database);
}

ReferenceCache reference_cache(const ModelOptions& options) {
    return {Path(database_path(options).string() + ".reference"), build_id()};
}

bool allows_bf16(const ModelOptions& options) {
    return std::find(options.allow.begin(), options.allow.end(), "bf16") != options.allow.end();
}

std::string allowances_text(const ModelOptions& options) { return allows_bf16(options) ? "f32,bf16" : "f32"; }

}  // namespace viridian::cli
