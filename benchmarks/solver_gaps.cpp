// rooms: cli zoo rewrite
// solver_gaps --db FILE [--allow bf16] [--objective TEXT] NAME|MODEL.onnx ...: the exact solver on real
// networks with measured prices (what the database lacks is measured): size of the problem, seconds, value,
// proven bound, gap.
#include <CLI/CLI.hpp>
#include <chrono>

#include "viridian/cli/model_session.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/search/assign.hpp"
#include "viridian/search/exact/eliminate.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::cli {
namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<void> row(ModelOptions options, const std::string& name, const std::vector<std::string>& objectives) {
    options.model = name;
    VIRIDIAN_TRY(graph::Graph graph, name.ends_with(".onnx") ? load_model(options) : zoo::build(name));
    VIRIDIAN_TRY(rewrite::simplify(graph));
    VIRIDIAN_TRY(const auto device, open_device(options));
    VIRIDIAN_TRY(cost::Database database, open_database(options));
    VIRIDIAN_TRY(const auto energy, profile::EnergyPricer::open("model", device->threads()));
    profile::OnDemand costs(*device, database, energy,
                            {.protocol = {}, .allowances = allowances_text(options)});
    costs.price_for(graph);
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    VIRIDIAN_TRY(const search::Instance instance, search::Instance::make(graph, regions, costs.source()));
    std::size_t choices = 0;
    for (const search::Candidate& candidate : instance.candidates()) choices += candidate.options.size();
    for (const std::string& text : objectives) {
        VIRIDIAN_TRY(const search::Objective objective, search::parse_objective(text));
        const double start = now();
        VIRIDIAN_TRY(const search::Outcome outcome, search::solve(instance, objective));
        const double seconds = now() - start;
        const search::Encoding encoding(instance, {1, 0, 0, 0, 0});
        const plan::Assignment& best = outcome.assignment;
        fmt::print("| {} | {} | {} | {:.1f} | {} | {:.3f} | {:.6g} | {:.6g} | {:.3g} % |\n",
                   Path(name).stem().string(), text, regions.size(),
                   static_cast<double>(choices) / static_cast<double>(instance.candidates().size()),
                   search::elimination_order(encoding.problem()).width, seconds, best.value, best.bound,
                   100 * best.gap() / best.value);
        std::fflush(stdout);
    }
    return {};
}

}  // namespace
}  // namespace viridian::cli

int main(int count, char** arguments) {
    CLI::App app("The exact solver on real networks");
    viridian::cli::ModelOptions options;
    std::vector<std::string> names, objectives;
    viridian::cli::add_cost_options(app, options);
    app.add_option("--threads", options.threads);
    app.add_option("--objective", objectives, "Several may be given");
    app.add_option("NAMES", names)->required();
    CLI11_PARSE(app, count, arguments);
    if (objectives.empty()) objectives = {"time"};
    fmt::print(
        "| network | objective | regions | choices a region | width | solve s | value | bound | gap |\n");
    fmt::print("|---|---|---|---|---|---|---|---|---|\n");
    int failed = 0;
    for (const std::string& name : names)
        if (const auto done = viridian::cli::row(options, name, objectives); !done.ok()) {
            fmt::print("| {} | {} |\n", name, done.error().text());
            failed = 1;
        }
    return failed;
}
