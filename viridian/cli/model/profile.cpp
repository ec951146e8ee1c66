// Fills the cost database for a model, so that `run --retune` need not measure, and `optimize` only what its
// search meets beyond it.
#include <chrono>
#include <set>

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/model/choices.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/cli/model/residuals.hpp"
#include "viridian/cli/terminal_listener.hpp"
#include "viridian/cost/recording.hpp"
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
    bool choices = false;
    std::string record;  // a file
};

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Asks for copies of every value in every format, which a plan may need where values must not share memory.
Result<void> ask_for_copies(const graph::Graph& graph, const cost::PriceSource& source) {
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    std::set<std::pair<graph::Dims, std::string>> asked;
    for (const plan::Region& region : regions) {
        VIRIDIAN_TRY(const std::vector<cost::PricedChoice> all, source.choices(graph, region));
        for (const cost::PricedChoice& one : all)
            for (std::size_t i = 0; i < region.outputs.size(); ++i) {
                const graph::Dims dims = graph.value(region.outputs[i]).type.dims();
                const plan::Format& format = one.choice.outputs[i];
                if (asked.emplace(dims, plan::text(format)).second)
                    VIRIDIAN_TRY(source.conversion(dims, format, format));
            }
    }
    return {};
}

// Returns the prices of all kernels and conversions of `graphs` as the text of a recording.
Result<std::string> recording_of(const std::vector<graph::Graph>& graphs, optimize::Costs& costs) {
    cost::Recording recording;
    recording.device = costs.device();
    const cost::PriceSource source = recording.recorded(costs.source());
    VIRIDIAN_TRY(optimize::ask_for_all(graphs, source));
    for (const graph::Graph& graph : graphs) VIRIDIAN_TRY(ask_for_copies(graph, source));
    return recording.to_text();
}

Result<void> check(const ProfileOptions& options) {
    const bool needs_times = options.choices || !options.record.empty();
    if (needs_times && (options.residuals || options.dry_run))
        return fail(ErrorCode::invalid_argument, "leave out one of them",
                    "`{}` needs times, and `{}` measures none", options.choices ? "--choices" : "--record",
                    options.residuals ? "--residuals" : "--dry-run");
    if (!options.residuals && options.model.model.empty())
        return fail(ErrorCode::invalid_argument, "write `viridian profile MODEL.onnx`",
                    "`profile` needs a model");
    return {};
}

Result<Answer> profile(const ProfileOptions& options) {
    VIRIDIAN_TRY(check(options));
    if (options.residuals) return residuals(options.model.database);
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
    if (options.choices) {
        VIRIDIAN_TRY(Answer list, choices(folded, costs->source()));
        result["regions"] = std::move(list.json);
        text = "  fastest to   slowest  kernels  the fastest                 operators\n" + list.text + text;
    }
    if (!options.record.empty()) {
        VIRIDIAN_TRY(const std::string recording, recording_of(graphs, *costs));
        VIRIDIAN_TRY(write_file(options.record, recording));
        text += fmt::format("wrote {}\n", options.record);
    }
    result["measured"] = costs->counts().misses;
    result["elapsed_seconds"] = since(started);
    return Answer{std::move(result), std::move(text)};
}

}  // namespace

Command profile_command() {
    return {
        "profile", "Measures what a model's kernels cost here, into the cost database",
        "viridian profile resnet50.onnx --db costs.db", [](App app) {
            auto options = std::make_shared<ProfileOptions>();
            add_model_options(app, options->model);
            add_type_option(app, options->model);
            add_cost_options(app, options->model);
            app.get_option("MODEL").required(false);  // --residuals needs none
            app.add_flag("--dry-run", options->dry_run, "Only say what is missing and how long it takes");
            app.add_option("--record", options->record,
                           "Write the prices as a file for `optimize --recorded`");
            app.add_flag(
                "--choices", options->choices,
                "List the kernels of each region of the model and their times; with --json each kernel, with "
                "its formats");
            app.add_flag("--residuals", options->residuals,
                         "Say how well the plans of `optimize` were predicted here, and measure nothing");
            app.footer(
                "Stopped with Ctrl-C, it goes on from there the next time. `optimize` measures by "
                "itself what its alternatives need beyond these.");
            return [options] { return profile(*options); };
        }};
}

}  // namespace viridian::cli
