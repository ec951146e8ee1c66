// rooms: cli
// prediction MODEL.onnx --db FILE [--threads N]: does the sum of the database's prices predict a whole run?
// Plans between the best and 1.5 times the best come from solving with perturbed prices; each is then priced
// with the true ones and run, all interleaved. Prints the error of the best plan, Kendall's tau over the
// pairs that differ by more than their intervals, and one line per plan.
#include <algorithm>
#include <cmath>
#include <set>

#include "viridian/base/hash.hpp"
#include "viridian/base/random.hpp"
#include "viridian/cli/model_session.hpp"
#include "viridian/cli/planned.hpp"
#include "viridian/execute/inputs.hpp"
#include "viridian/execute/proof.hpp"
#include "viridian/profile/measure_runs.hpp"

namespace viridian::cli {
namespace {

// The same choice is perturbed the same way wherever it occurs: factor exp(strength × normal).
cost::Source perturbed(const cost::Source& source, std::uint64_t seed, double strength) {
    const auto factor = [=](std::string_view key) {
        Random random(Hash().add(seed).add(key).value());
        return std::exp(strength * random.normal());
    };
    cost::Source other = source;
    other.choices = [=](const graph::Graph& graph,
                        const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
        VIRIDIAN_TRY(auto priced, source.choices(graph, region));
        const std::string subject = plan::signature(graph, region);
        for (auto& choice : priced) choice.price.seconds *= factor(subject + choice.choice.key());
        return priced;
    };
    return other;
}

struct Candidate {
    Planned planned;
    double predicted = 0;
    Summary ran;
};

Result<void> benchmark(const ModelOptions& options, std::size_t wanted) {
    VIRIDIAN_TRY(const graph::Graph graph, load_model(options));
    VIRIDIAN_TRY(const auto device, open_device(options));
    VIRIDIAN_TRY(cost::Database database, open_database(options));
    VIRIDIAN_TRY(const auto energy, profile::EnergyPricer::open("model", device->threads()));
    profile::OnDemand costs(*device, database, energy);
    costs.price_for(graph);
    const cost::Source source = costs.source();

    std::vector<Candidate> candidates;
    std::set<std::string> seen;
    const auto add = [&](const cost::Source& prices) -> Result<void> {
        VIRIDIAN_TRY(Planned planned, make_planned(graph, *device, prices, {}, {}));
        VIRIDIAN_TRY(const auto steps, step_prices(planned, source));
        double predicted = 0;
        for (const cost::Price& price : steps) predicted += price.seconds.value;
        if (!candidates.empty() && predicted > 1.5 * candidates[0].predicted) return {};
        if (seen.insert(plan::to_json(planned.graph, planned.plan)["regions"].dump()).second)
            candidates.push_back({std::move(planned), predicted, {}});
        return {};
    };
    VIRIDIAN_TRY(add(source));
    for (std::uint64_t seed = 1; candidates.size() < wanted && seed < 20 * wanted; ++seed)
        VIRIDIAN_TRY(add(perturbed(source, seed, 0.1 + 0.4 * static_cast<double>(seed % 8) / 8)));

    VIRIDIAN_TRY(const auto inputs, execute::seeded_inputs(graph, 1));
    std::vector<profile::Contestant> contestants;
    for (Candidate& candidate : candidates) {
        VIRIDIAN_TRY(auto outputs, execute::output_tensors(graph));
        contestants.push_back({candidate.planned.executable.get(), inputs, std::move(outputs)});
    }
    VIRIDIAN_TRY(const auto ran, profile::measure_runs(contestants, {.rounds = 11}));
    for (std::size_t i = 0; i < ran.size(); ++i) candidates[i].ran = ran[i];

    int concordant = 0;
    int pairs = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const Summary& a = candidates[i].ran;
            const Summary& b = candidates[j].ran;
            if (a.low <= b.high && b.low <= a.high) continue;  // closer than their intervals
            ++pairs;
            concordant +=
                (candidates[i].predicted < candidates[j].predicted) == (a.median < b.median) ? 1 : 0;
        }
    for (const Candidate& candidate : candidates)
        fmt::print("  predicted {:8.3f} ms  ran {:8.3f} ms ({:.3f} to {:.3f})  {:+.1f} %\n",
                   1e3 * candidate.predicted, 1e3 * candidate.ran.median, 1e3 * candidate.ran.low,
                   1e3 * candidate.ran.high, 100 * (candidate.predicted / candidate.ran.median - 1));
    fmt::print("{}: {} plans, best plan predicted {:+.1f} %, Kendall tau {:.3f} over {} pairs\n",
               options.model, candidates.size(),
               100 * (candidates[0].predicted / candidates[0].ran.median - 1),
               pairs == 0 ? 1.0 : 2.0 * concordant / pairs - 1, pairs);
    return {};
}

}  // namespace
}  // namespace viridian::cli

int main(int count, char** arguments) {
    CLI::App app("How well prices predict runs");
    viridian::cli::ModelOptions options;
    std::size_t plans = 12;
    viridian::cli::add_model_options(app, options);
    viridian::cli::add_cost_options(app, options);
    app.add_option("--plans", plans, "How many plans")->capture_default_str();
    CLI11_PARSE(app, count, arguments);
    const auto done = viridian::cli::benchmark(options, plans);
    if (!done.ok()) fmt::print(stderr, "{}\n", done.error().text());
    return done.ok() ? 0 : 1;
}
