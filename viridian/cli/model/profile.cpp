// Fills the cost database for a model, so that `run --retune` need not measure, and `optimize` only what its
// search meets beyond it.
#include <chrono>

#include "viridian/base/json.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/cli/model/residuals.hpp"
#include "viridian/cli/terminal_listener.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/optimize/job.hpp"
#include "viridian/optimize/prices/price_forecast.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::cli {
namespace {

struct ProfileOptions {
    ModelOptions model;
    bool dry_run = false;
    bool residuals = false;
};

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<Answer> profile(const ProfileOptions& options) {
    if (options.residuals) return residuals(options.model.database);
    if (options.model.model.empty())
        return fail(ErrorCode::invalid_argument, "write `viridian profile MODEL.onnx`",
                    "`profile` needs a model");
    const auto started = std::chrono::steady_clock::now();
    TerminalListener listener;
    listener.progress("reading the model");
    VIRIDIAN_TRY(const graph::Graph original, session::load_model(options.model, &listener));
    rewrite::Certificate unused;
    VIRIDIAN_TRY(const graph::Graph folded, optimize::fold(original, {}, unused));
    graph::Graph rewritten = folded;
    VIRIDIAN_TRY(rewrite::simplify(rewritten));
    const std::vector<graph::Graph> graphs = {folded, rewritten};

    const execute::PinnedCaller pinned(options.model.pin);
    VIRIDIAN_TRY(const auto device, session::open_device(options.model));
    VIRIDIAN_TRY(cost::Database database, session::open_database(options.model));
    VIRIDIAN_TRY(const auto costs,
                 optimize::MeasuredCosts::open(*device, database, session::energy_options(options.model),
                                               session::allowances_text(options.model)));
    costs->price_for(folded);

    listener.progress("asking the device for its kernels");
    VIRIDIAN_TRY(const std::optional<optimize::PriceForecast> forecast, costs->forecast(graphs));
    Json result = {
        {"schema", "viridian.profile/1"},       {"model", Path(options.model.model).filename().string()},
        {"fingerprint", device->fingerprint()}, {"library", device->library()},
        {"threads", device->threads()},         {"meter", costs->meter()},
        {"database", options.model.database}};
    result.update(forecast->json());
    std::string text = forecast->text() + "\n";  // in the end, what was measured instead
    if (!options.dry_run && forecast->missing() > 0) {
        listener.note(forecast->text());
        const auto measuring = std::chrono::steady_clock::now();
        costs->report_to(&listener, &*forecast);
        VIRIDIAN_TRY(optimize::ask_for_all(graphs, costs->source()));
        text = fmt::format("measured {} prices in {}\n", costs->counts().misses,
                           quantity(since(measuring), "s"));
    }
    result["measured"] = costs->counts().misses;
    result["elapsed_seconds"] = since(started);
    return Answer{std::move(result), std::move(text)};
}

}  // namespace

Command profile_command() {
    return {"profile", "Measures what a model's kernels cost here, into the cost database",
            "viridian profile resnet50.onnx --db costs.db", [](App app) {
                auto options = std::make_shared<ProfileOptions>();
                add_model_options(app, options->model);
                add_type_option(app, options->model);
                add_cost_options(app, options->model);
                app.get_option("MODEL").required(false);  // --residuals needs none
                app.add_flag("--dry-run", options->dry_run, "Only say what is missing and how long it takes");
                app.add_flag("--residuals", options->residuals,
                             "Say how well the plans of `optimize` were predicted here, and measure nothing");
                app.footer(
                    "Stopped with Ctrl-C, it goes on from there the next time. `optimize` measures by "
                    "itself what its alternatives need beyond these.");
                return [options] { return profile(*options); };
            }};
}

}  // namespace viridian::cli
