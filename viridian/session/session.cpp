#include "viridian/session/session.hpp"

#include "viridian/base/json.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::session {

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
    VIRIDIAN_TRY(loaded.graph, load_model(model, listener));
    if (loaded.files.plan) {
        VIRIDIAN_TRY(const std::string text, read_file(*loaded.files.plan));
        VIRIDIAN_TRY(Json sidecar, parse_json(text, loaded.files.plan->string()));
        VIRIDIAN_TRY(loaded.request, optimize::request_of(sidecar));
        loaded.sidecar = std::make_shared<const Json>(std::move(sidecar));
    }
    // A plan names the nodes of its file as they are; a model without a plan profits from the rules that
    // always pay.
    if (!loaded.files.plan) VIRIDIAN_TRY(rewrite::simplify(loaded.graph, {.without = without}));
    return loaded;
}

}  // namespace viridian::session
