// rooms: cli zoo rewrite
// solver_gaps [--synthetic] [--db FILE] [--allow bf16] [--objective TEXT] NAME|MODEL.onnx ...: the exact
// solver on real networks, with the synthetic processor's prices or with measured ones (what the database
// lacks is measured): size of the problem, seconds, value, proven bound, gap. With --allow bf16 each network
// is solved in f32 and then with bf16 beside it.
#include <CLI/CLI.hpp>
#include <chrono>

#include "viridian/cli/model/model_options.hpp"
#include "viridian/cost/synthetic.hpp"
#include "viridian/profile/on_demand.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/search/assign/assign.hpp"
#include "viridian/search/exact/eliminate.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::cli {
namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

using Text = std::string;

Result<void> rows(const Text& name, const Text& precisions, const graph::Graph& graph,
                  const cost::PriceSource& source, const std::vector<Text>& objectives) {
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    VIRIDIAN_TRY(const search::Instance instance, search::Instance::make(graph, regions, source));
    std::size_t choices = 0;
    for (const search::Candidate& candidate : instance.candidates()) choices += candidate.options.size();
    const search::Encoding encoding(instance, {1, 0, 0, 0, 0});
    const std::size_t width = search::elimination_order(encoding.problem()).width;
    for (const Text& text : objectives) {
        VIRIDIAN_TRY(const search::Objective objective, search::parse_objective(text));
        const double start = now();
        const auto outcome = search::solve(instance, objective);
        const double seconds = now() - start;
        if (!outcome.ok()) {
            fmt::print("| {} | {} | {} | {} |\n", Path(name).stem().string(), precisions, text,
                       outcome.error().text());
            continue;
        }
        const plan::Assignment& best = outcome->assignment;
        fmt::print("| {} | {} | {} | {} | {:.1f} | {} | {:.3f} | {:.6g} | {:.6g} | {} |\n",
                   Path(name).stem().string(), precisions, text, regions.size(),
                   static_cast<double>(choices) / static_cast<double>(instance.candidates().size()), width,
                   seconds, best.value, best.bound,
                   best.gap() <= 0 ? Text("0") : fmt::format("{:.3g} %", 100 * best.gap() / best.value));
        std::fflush(stdout);
    }
    return {};
}

Result<void> network(ModelOptions options, const Text& name, const std::vector<Text>& objectives,
                     bool synthetic) {
    options.model = name;
    VIRIDIAN_TRY(graph::Graph graph,
                 name.ends_with(".onnx") ? session::load_model(options) : zoo::build(name));
    VIRIDIAN_TRY(rewrite::simplify(graph));
    if (synthetic) return rows(name, "f32", graph, cost::synthetic(1), objectives);
    VIRIDIAN_TRY(const auto device, session::open_device(options));
    VIRIDIAN_TRY(cost::Database database, session::open_database(options));
    VIRIDIAN_TRY(const auto energy, profile::EnergyPricer::open({.meter = "model"}, *device));
    profile::OnDemand costs(*device, database, energy,
                            {.protocol = {}, .allowances = session::allowances_text(options)});
    costs.price_for(graph);
    return rows(name, session::allowances_text(options), graph, costs.source(), objectives);
}

}  // namespace
}  // namespace viridian::cli

int main(int count, char** arguments) {
    CLI::App app("The exact solver on real networks");
    viridian::cli::ModelOptions options;
    std::vector<std::string> names, objectives;
    viridian::cli::add_cost_options(viridian::cli::App(&app), options);
    bool synthetic = false;
    app.add_flag("--synthetic", synthetic, "Prices of the synthetic processor (docs/cost.md)");
    app.add_option("--threads", options.threads);
    app.add_option("--objective", objectives, "Several may be given");
    app.add_option("NAMES", names)->required();
    CLI11_PARSE(app, count, arguments);
    if (objectives.empty()) objectives = {"time"};
    fmt::print(
        "| network | precisions | objective | regions | choices a region | width | solve s | value | bound | "
        "gap "
        "|\n");
    fmt::print("|---|---|---|---|---|---|---|---|---|---|\n");
    int failed = 0;
    const auto solve = [&](const viridian::cli::ModelOptions& with, const std::string& name) {
        const auto done = viridian::cli::network(with, name, objectives, synthetic);
        if (done.ok()) return;
        fmt::print("| {} | {} | {} |\n", name, viridian::session::allowances_text(with), done.error().text());
        failed = 1;
    };
    viridian::cli::ModelOptions f32 = options;
    f32.allow.clear();
    for (const std::string& name : names) {
        solve(f32, name);
        if (!synthetic && viridian::session::allows_bf16(options)) solve(options, name);
    }
    return failed;
}
