// rooms: cli
// prediction MODEL.onnx [--also MODEL.onnx]... --db FILE [--threads N]: does the sum of the database's prices
// predict a whole run?
// Plans come from solving with perturbed prices; each is then priced with the true ones, and those nearest to
// evenly spaced predictions between the best and 1.5 times the best are run, turn by turn with their steps
// timed one by one (docs/profile.md). What the best plan rests on is timed again first, as `optimize` does.
// The prediction is the sum of stored prices, times what earlier residuals of the database say of such sums,
// made before any plan runs. The residuals of the best plans are stored for later predictions only after the
// last network has run, so that no run of a set is in the correction of another network of it. Runs count at
// the core-to-core latency for which they were predicted. If there are too few of them, or the probes say
// after the runs that the machine changed meanwhile, predictions and runs are repeated. Prints a line of JSON
// per network, the fastest plan by prediction first, which prediction.py judges. `kernels` are the sums of
// kernels timed beside the runs; they are no prediction.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <set>

#include "viridian/base/hash.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/random.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/optimize/planned.hpp"
#include "viridian/optimize/prices/confirm_prices.hpp"
#include "viridian/profile/interleaved.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/prove/proof.hpp"

namespace viridian::cli {
namespace {

// The same choice is perturbed the same way wherever it occurs: factor exp(strength × normal).
cost::PriceSource perturbed(const cost::PriceSource& source, std::uint64_t seed, double strength) {
    const auto factor = [=](std::string_view key) {
        Random random(Hash().add(seed).add(key).value());
        return std::exp(strength * random.normal());
    };
    cost::PriceSource other = source;
    other.choices = [=](const graph::Graph& graph,
                        const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
        VIRIDIAN_TRY(auto priced, source.choices(graph, region));
        const std::string subject = plan::signature(graph, region);
        for (auto& choice : priced) choice.price.seconds *= factor(subject + choice.choice.key());
        return priced;
    };
    return other;
}

struct Draft {
    plan::Plan plan;
    double predicted = 0;
};

struct Candidate {
    Draft draft;
    std::unique_ptr<execute::Executable> executable;
    double kernels = 0;  // timed alone, in turn with the runs
    Summary ran;
};

// What the plan's regions and conversions cost at the prices that `source` has now.
Result<double> price(const graph::Graph& graph, const plan::Plan& plan, const cost::PriceSource& source) {
    double sum = 0;
    for (const plan::AssignedRegion& assigned : plan.assignment.regions) {
        VIRIDIAN_TRY(const auto choices, source.choices(graph, assigned.region));
        for (const cost::PricedChoice& priced : choices)
            if (priced.choice.key() == assigned.choice.key()) sum += priced.price.seconds.value;
    }
    for (const plan::Conversion& conversion : plan.assignment.conversions) {
        VIRIDIAN_TRY(const cost::Price priced, source.conversion(graph.value(conversion.value).type.dims(),
                                                                 conversion.from, conversion.to));
        sum += priced.seconds.value;
    }
    return sum;
}

// The best plan, then others up to 1.5 times its price.
Result<std::vector<Draft>> draft(const graph::Graph& graph, const cost::PriceSource& source,
                                 std::size_t tries) {
    std::vector<Draft> drafts;
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed <= tries; ++seed) {
        const double strength = 0.1 + 0.9 * static_cast<double>(seed % 10) / 10;
        VIRIDIAN_TRY(const search::Instance instance,
                     search::Instance::of(graph, seed == 0 ? source : perturbed(source, seed, strength)));
        VIRIDIAN_TRY(search::Outcome outcome, search::solve(instance, {}));
        VIRIDIAN_TRY(plan::Plan plan, plan::make_plan(graph, std::move(outcome.assignment)));
        VIRIDIAN_TRY(const double predicted, price(graph, plan, source));
        if (!drafts.empty() && predicted > 1.5 * drafts[0].predicted) continue;
        if (seen.insert(plan::to_json(graph, plan)["regions"].dump()).second)
            drafts.push_back({std::move(plan), predicted});
    }
    return drafts;
}

std::vector<Draft> spread(std::vector<Draft> drafts, std::size_t wanted) {
    const double best = drafts[0].predicted;
    std::vector<Draft> chosen;
    for (std::size_t i = 0; i < wanted && !drafts.empty(); ++i) {
        const double target = best * (1 + 0.5 * static_cast<double>(i) / static_cast<double>(wanted - 1));
        const auto nearest =
            i == 0 ? drafts.begin() : std::ranges::min_element(drafts, {}, [&](const Draft& one) {
                return std::abs(one.predicted - target);
            });
        chosen.push_back(std::move(*nearest));
        drafts.erase(nearest);
    }
    return chosen;
}

Json to_json(const cost::ProbeTimes& probes, Seconds latency) {
    return {{"product", probes.arithmetic.value},
            {"conversion", probes.memory.value},
            {"core_to_core", latency.value}};
}

// Prices every plan as it is just before the first of them runs, and runs them in turn. If runs or probes
// tell another state of the machine, nothing can be said of either: both are repeated, a few times at most.
// Puts what probes and runs told into `attempts`.
Result<std::vector<profile::InterleavedResult>> run_in_one_state(
    const graph::Graph& graph, execute::Device& device, optimize::MeasuredCosts& costs,
    std::vector<Candidate>& candidates, std::vector<profile::InterleavedPlan>& plans, Json& attempts) {
    constexpr int most_attempts = 4;
    constexpr double other_state = 0.15;
    profile::InterleavedProtocol protocol;
    const bool one_run_a_slice = candidates.front().draft.predicted > protocol.runs.per_slice.value;
    protocol.runs.rounds = one_run_a_slice ? 25 : 11;
    const cost::PriceSource source = costs.source();
    for (int attempt = 1;; ++attempt) {
        VIRIDIAN_TRY(costs.calibrate());
        VIRIDIAN_TRY(const profile::Drift before, costs.drift());
        protocol.latency = before.latency;
        for (Candidate& candidate : candidates) {
            VIRIDIAN_TRY(candidate.draft.predicted, price(graph, candidate.draft.plan, source));
        }
        VIRIDIAN_TRY(auto measured, profile::measure_interleaved(device, plans, protocol));
        VIRIDIAN_TRY(const profile::Drift drift, costs.drift());
        const double ran_at = measured.front().latency.value, predicted_at = before.latency.value;
        const bool same = profile::alike(drift.then, drift.now, other_state) && ran_at <= 2 * predicted_at &&
                          predicted_at <= 2 * ran_at;
        attempts.push_back({{"before", to_json(drift.then, before.latency)},
                            {"after", to_json(drift.now, drift.latency)},
                            {"runs_core_to_core", ran_at},
                            {"one_state", same}});
        if (same || attempt == most_attempts) return measured;
    }
}

// Prints what the plans of one network were predicted and what they ran, and returns the residual of the
// best.
Result<cost::Residual> benchmark(const ModelOptions& options, std::size_t wanted) {
    VIRIDIAN_TRY(const graph::Graph graph, session::load_model(options));
    VIRIDIAN_TRY(const auto device, session::open_device(options));
    VIRIDIAN_TRY(cost::Database database, session::open_database(options));
    VIRIDIAN_TRY(const auto costs,
                 optimize::MeasuredCosts::open(*device, database, {.meter = "model"}, "f32"));
    costs->price_for(graph);
    VIRIDIAN_TRY(costs->calibrate());
    const cost::PriceSource source = costs->source();

    VIRIDIAN_TRY(optimize::confirm_prices(graph, *costs, {}, {}, true));
    VIRIDIAN_TRY(std::vector<Draft> drafts, draft(graph, source, 25 * wanted));
    std::vector<Candidate> candidates;
    for (Draft& chosen : spread(std::move(drafts), wanted)) {
        VIRIDIAN_TRY(costs->confirm(graph, chosen.plan.assignment.regions));
        VIRIDIAN_TRY(chosen.predicted, price(graph, chosen.plan, source));
        chosen.plan.device = device->fingerprint();
        chosen.plan.library = device->library();
        chosen.plan.threads = device->threads();
        VIRIDIAN_TRY(auto executable, device->prepare(graph, chosen.plan));
        candidates.push_back({std::move(chosen), std::move(executable), 0, {}});
    }

    VIRIDIAN_TRY(const auto inputs, prove::seeded_inputs(graph, 1));
    std::vector<profile::InterleavedPlan> plans;
    for (Candidate& candidate : candidates) {
        VIRIDIAN_TRY(auto outputs, execute::output_tensors(graph));
        plans.push_back(
            {&graph, &candidate.draft.plan, {candidate.executable.get(), inputs, std::move(outputs)}});
    }
    Json attempts = Json::array(), told = Json::array();
    VIRIDIAN_TRY(const auto measured, run_in_one_state(graph, *device, *costs, candidates, plans, attempts));
    for (std::size_t i = 0; i < measured.size(); ++i) {
        candidates[i].kernels = measured[i].kernels().value;
        const Summary& ran = candidates[i].ran = measured[i].ran;
        told.push_back({{"predicted", candidates[i].draft.predicted},
                        {"ran", {{"median", ran.median}, {"low", ran.low}, {"high", ran.high}}},
                        {"runs", ran.count},
                        {"lost", measured[i].lost},
                        {"kernels", candidates[i].kernels}});
    }
    fmt::print("{}\n", Json{{"model", options.model},
                            {"library", device->library()},
                            {"threads", device->threads()},
                            {"correction", costs->correction(device->threads())},
                            {"timed_again", costs->counts().again},
                            {"attempts", std::move(attempts)},
                            {"plans", std::move(told)}}
                           .dump());
    std::fflush(stdout);
    const Candidate& best = candidates[0];
    return cost::Residual{options.model,
                          "",
                          device->fingerprint(),
                          device->threads(),
                          Seconds(best.draft.predicted),
                          Seconds(best.kernels),
                          Seconds(best.ran.median),
                          "",
                          costs->correction(device->threads())};
}

// Judges every network with the correction that the database has now, and only then stores what they took.
Result<void> judge(ModelOptions options, const std::vector<std::string>& also, std::size_t wanted) {
    std::vector<std::string> models = {options.model};
    models.insert(models.end(), also.begin(), also.end());
    std::vector<cost::Residual> residuals;
    for (const std::string& model : models) {
        options.model = model;
        VIRIDIAN_TRY(cost::Residual residual, benchmark(options, wanted));
        residuals.push_back(std::move(residual));
    }
    VIRIDIAN_TRY(cost::Database database, session::open_database(options));
    for (const cost::Residual& residual : residuals) {
        VIRIDIAN_TRY(database.put_residual(residual));
    }
    return {};
}

}  // namespace
}  // namespace viridian::cli

int main(int count, char** arguments) {
    CLI::App app("How well prices predict runs");
    viridian::cli::ModelOptions options;
    std::size_t plans = 12;
    std::vector<std::string> also;
    viridian::cli::add_model_options(viridian::cli::App(&app), options);
    viridian::cli::add_cost_options(viridian::cli::App(&app), options);
    app.add_option("--plans", plans, "How many plans")->capture_default_str();
    app.add_option("--also", also, "Another network of the set; may be given again");
    CLI11_PARSE(app, count, arguments);
    const auto done = viridian::cli::judge(options, also, plans);
    if (!done.ok()) fmt::print(stderr, "{}\n", done.error().text());
    return done.ok() ? 0 : 1;
}
