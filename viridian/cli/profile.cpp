// Fills the cost database for a model, so that `run --retune` need not measure, and `optimize` only what its
// search meets beyond it.
#include <chrono>

#include "viridian/cli/commands.hpp"
#include "viridian/cli/interrupt.hpp"
#include "viridian/cli/model_session.hpp"
#include "viridian/cli/optimize_parts.hpp"
#include "viridian/cli/price_forecast.hpp"
#include "viridian/cli/progress.hpp"
#include "viridian/cli/units_text.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::cli {
namespace {

struct Options {
    ModelOptions model;
    bool dry_run = false;
};

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<Answer> profile(const Options& options) {
    const auto started = std::chrono::steady_clock::now();
    Progress progress;
    const Interrupt interrupt;
    progress.show("reading the model");
    VIRIDIAN_TRY(const graph::Graph original, load_model(options.model));
    rewrite::Certificate unused;
    VIRIDIAN_TRY(const graph::Graph folded, fold(original, {}, unused));
    graph::Graph rewritten = folded;
    VIRIDIAN_TRY(rewrite::simplify(rewritten));
    const std::vector<graph::Graph> graphs = {folded, rewritten};

    VIRIDIAN_TRY(const auto device, open_device(options.model));
    VIRIDIAN_TRY(cost::Database database, open_database(options.model));
    VIRIDIAN_TRY(const auto energy, profile::EnergyPricer::open(options.model.meter, device->threads()));
    const profile::OnDemandOptions how{.protocol = {}, .allowances = allowances_text(options.model)};
    profile::OnDemand costs(*device, database, energy, how);
    costs.price_for(folded);

    progress.show("asking the device for its kernels");
    VIRIDIAN_TRY(const PriceForecast forecast, PriceForecast::make(graphs, costs, how.protocol));
    Json result = {{"schema", "viridian.profile/1"},
                   {"model", Path(options.model.model).filename().string()},
                   {"fingerprint", device->fingerprint()},
                   {"library", device->library()},
                   {"threads", device->threads()},
                   {"meter", energy.name()},
                   {"database", database_path(options.model).string()}};
    result.update(forecast.json());
    std::string text = forecast.text() + "\n";  // in the end, what was measured instead
    if (!options.dry_run && forecast.missing() > 0) {
        progress.clear();
        fmt::print(stderr, "{}\n", forecast.text());
        const auto measuring = std::chrono::steady_clock::now();
        costs.cancelled = [&] { return interrupt.asked(); };
        costs.progress = [&](const std::string& what) {
            progress.show(fmt::format("{}: {}", forecast.progress(costs.counts().misses, measuring), what));
        };
        VIRIDIAN_TRY(ask_for_all(graphs, costs.source()));
        text =
            fmt::format("measured {} prices in {}\n", costs.counts().misses, quantity(since(measuring), "s"));
    }
    result["measured"] = costs.counts().misses;
    result["elapsed_seconds"] = since(started);
    return Answer{std::move(result), std::move(text)};
}

}  // namespace

Command profile_command() {
    return {"profile", "Measures what a model's kernels cost here, into the cost database",
            "viridian profile resnet50.onnx --db costs.db", [](CLI::App& app) {
                auto options = std::make_shared<Options>();
                add_model_options(app, options->model);
                add_cost_options(app, options->model);
                app.add_flag("--dry-run", options->dry_run, "Only say what is missing and how long it takes");
                app.footer(
                    "Stopped with Ctrl-C, it goes on from there the next time. `optimize` measures by "
                    "itself what its alternatives need beyond these.");
                return [options] { return profile(*options); };
            }};
}

}  // namespace viridian::cli
