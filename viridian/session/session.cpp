#include "viridian/session/session.hpp"

#include "viridian/base/json.hpp"
#include "viridian/graph/data_flow.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::session {
namespace {

// Checks that a run of the model fits the memory that is allowed. First the values of all nodes are added up.
// If that is too much, the plan is asked, or without one a plan by estimated prices. It may need less,
// because its buffers share memory, and a kernel of several nodes does not store the values between them.
Result<void> check_run(const LoadedModel& model, const ModelOptions& options) {
    VIRIDIAN_TRY(const graph::MemoryNeed apart, graph::memory_need(model.graph));
    Result<void> fits = check_need(apart.total(), options);
    if (fits.ok()) return fits;
    const auto planned = [&]() -> Result<Bytes> {
        if (model.sidecar == nullptr) return planned_need(model.graph, options);
        VIRIDIAN_TRY(const plan::Plan plan, plan::plan_from_json(model.graph, *model.sidecar));
        return memory_need(model.graph, plan);
    }();
    return planned.ok() && check_need(*planned, options).ok() ? Result<void>() : fits;
}

}  // namespace

ModelFiles files_of(const std::string& name) {
    constexpr std::string_view suffix = ".plan.json";
    if (name.ends_with(suffix)) return {name.substr(0, name.size() - suffix.size()) + ".onnx", Path(name)};
    return {name, std::nullopt};
}

Result<LoadedModel> load(const ModelOptions& options, Listener* listener,
                         const std::vector<std::string>& without) {
    LoadedModel loaded;
    loaded.files = files_of(options.model);
    ModelOptions model = options;
    model.model = loaded.files.model.string();
    if (loaded.files.plan && !options.as.empty())
        return fail(ErrorCode::invalid_argument, "optimise the original model with --as f32",
                    "`{}` is a plan, whose model has the types that it was planned in", options.model);
    model.runs = false;
    VIRIDIAN_TRY(loaded.graph, load_model(model, listener));
    if (loaded.files.plan) {
        VIRIDIAN_TRY(const std::string text, read_file(*loaded.files.plan));
        VIRIDIAN_TRY(Json sidecar, parse_json(text, loaded.files.plan->string()));
        VIRIDIAN_TRY(loaded.request, optimize::request_of(sidecar));
        loaded.sidecar = std::make_shared<const Json>(std::move(sidecar));
    }
    if (options.runs) VIRIDIAN_TRY(check_run(loaded, model));
    // A plan names the nodes of its file as they are; a model without a plan profits from the rules that
    // always pay.
    if (!loaded.files.plan) VIRIDIAN_TRY(rewrite::simplify(loaded.graph, {.without = without}));
    return loaded;
}

}  // namespace viridian::session
