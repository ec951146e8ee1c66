// The main job, as one straight function: load, rewrite, price, choose, prove, run, write.
#include "viridian/base/hash.hpp"
#include "viridian/base/machine.hpp"
#include "viridian/cli/commands.hpp"
#include "viridian/cli/confirm.hpp"
#include "viridian/cli/interrupt.hpp"
#include "viridian/cli/model_session.hpp"
#include "viridian/cli/model_tensors.hpp"
#include "viridian/cli/optimize_files.hpp"
#include "viridian/cli/optimize_parts.hpp"
#include "viridian/cli/optimize_recorded.hpp"
#include "viridian/cli/optimize_result.hpp"
#include "viridian/cli/precision_result.hpp"
#include "viridian/cli/price_forecast.hpp"
#include "viridian/cli/prove_plan.hpp"
#include "viridian/cli/replaced.hpp"
#include "viridian/cli/search_options.hpp"
#include "viridian/cli/sidecar.hpp"
#include "viridian/cli/written.hpp"
#include "viridian/execute/inputs.hpp"
#include "viridian/plan/with_casts.hpp"
#include "viridian/report/page.hpp"
#include "viridian/rewrite/certificate.hpp"

namespace viridian::cli {
namespace {

struct Options {
    ModelOptions model;
    std::string output;
    std::string objective = "time";
    std::string solver = "exact";
    std::string record, recorded;  // files
    std::size_t distance = 1;
    std::uint64_t seed = 1;
    std::vector<std::string> inputs;  // files
    int proofs = 0;                   // 0: three, one for large models
    std::optional<double> max_error;
    SearchOptions search;
};

// The user's, or seeded ones.
Result<TensorSets> proof_inputs(const graph::Graph& graph, const Options& options, int count) {
    if (!options.inputs.empty()) return model_input_sets(graph, options.inputs);
    TensorSets sets;
    for (int i = 0; i < count; ++i) {
        VIRIDIAN_TRY(auto set, execute::seeded_inputs(graph, options.seed + static_cast<std::uint64_t>(i)));
        sets.push_back(std::move(set));
    }
    return sets;
}

Result<Answer> optimize(const Options& options) {
    if (options.search.list_rules) return list_rules();
    if (options.model.model.empty() || options.output.empty())
        return fail(ErrorCode::invalid_argument, "write `viridian optimize MODEL.onnx -o OUT.onnx`",
                    "`optimize` needs a model and an output");
    std::vector<Path> reads = files_read(options.model, options.inputs);
    reads.emplace_back(options.recorded);
    VIRIDIAN_TRY(const OptimizeFiles files,
                 OptimizeFiles::make(options.output, options.record, allows_bf16(options.model), reads));
    const auto started = std::chrono::steady_clock::now();
    Progress progress;
    const Interrupt interrupt;
    VIRIDIAN_TRY(const search::Objective objective, search::parse_objective(options.objective));
    VIRIDIAN_TRY(parse_budget(options.search.budget));
    search::AssignOptions solver;
    VIRIDIAN_TRY(solver.solver, search::parse_solver(options.solver));
    solver.distance = options.distance;
    VIRIDIAN_TRY(search::expect_solvable(objective, solver.solver));
    if (!options.recorded.empty())
        return optimize_recorded({options.model, options.search, files, options.recorded,
                                  !options.record.empty(), objective, solver},
                                 progress, interrupt);

    progress.show("reading the model");
    VIRIDIAN_TRY(const graph::Graph original, load_model(options.model));
    rewrite::Certificate certificate;
    VIRIDIAN_TRY(const graph::Graph folded, fold(original, options.search.without, certificate));
    const rewrite::Certificate only_folded = certificate;
    graph::Graph rewritten = folded;
    VIRIDIAN_TRY(rewrite::Outcome rewrites,
                 rewrite::simplify(rewritten, {.without = options.search.without}));
    append(certificate, std::move(rewrites.certificate));

    VIRIDIAN_TRY(const auto device, open_device(options.model));
    VIRIDIAN_TRY(cost::Database database, open_database(options.model));
    VIRIDIAN_TRY(const profile::EnergyPricer energy,
                 profile::EnergyPricer::open(options.model.meter, device->threads()));
    profile::OnDemand costs(*device, database, energy,
                            {.protocol = {}, .allowances = allowances_text(options.model)});
    costs.price_for(folded);
    costs.cancelled = [&] { return interrupt.asked(); };

    progress.show("computing the original on the reference kernels");
    VIRIDIAN_TRY(const bool large, is_large(original));
    const int proofs = options.proofs != 0 ? options.proofs : large ? 1 : 3;
    VIRIDIAN_TRY(TensorSets inputs, proof_inputs(original, options, proofs));
    VIRIDIAN_TRY(ReferenceOutputs expected,
                 reference_cache(options.model).outputs(original, inputs, device->threads()));
    const Question question{original, std::move(inputs), std::move(expected), large, options.max_error};

    progress.show("pricing regions");
    VIRIDIAN_TRY(const PriceForecast forecast, PriceForecast::make({folded, rewritten}, costs, {}));
    if (forecast.missing() > 0) {
        progress.clear();
        fmt::print(stderr, "{}; Ctrl-C keeps what was measured{}\n", forecast.text(),
                   options.search.method == "none"
                       ? ""
                       : fmt::format(". Then the search, which measures what its graphs need (--budget {})",
                                     options.search.budget));
    }
    costs.progress = [&, begin = std::chrono::steady_clock::now()](const std::string& what) {
        progress.show(fmt::format("{}: {}", forecast.progress(costs.counts().misses, begin), what));
    };
    search::AssignOptions first = solver;
    first.solver = search::Solver::first;
    search::Objective unlimited = objective;  // limits are relative to this very plan
    unlimited.limit.reset();
    cost::Recording recording;
    const cost::Source source = options.record.empty() ? costs.source() : recording.listen(costs.source());
    VIRIDIAN_TRY(confirm_prices(folded, costs, unlimited, first, false));
    VIRIDIAN_TRY(Planned baseline, make_planned(folded, *device, source, unlimited, first));
    solver.start = baseline.totals;
    VIRIDIAN_TRY(search::OuterResult found,
                 search_graphs(rewritten, source, objective, solver, options.search, progress, interrupt));
    append(certificate, std::move(found.certificate));
    const bool stopped = found.ended_by == search::EndedBy::cancelled;
    costs.cancelled = nullptr;  // whoever stopped the search gets what it found
    if (stopped) progress.show("stopped: proving the best plan so far");
    std::vector<std::string> without = options.search.without;
    const auto proven_plan = [&](const graph::Graph& graph) -> Result<Proven> {
        VIRIDIAN_TRY(const graph::Graph written, as_read_again(graph, without));
        if (!stopped) VIRIDIAN_TRY(confirm_prices(written, costs, objective, solver, true));
        progress.show("proving the plan");
        return plan_and_prove(written, question, *device, costs, objective, solver);
    };
    Result<Proven> proven = proven_plan(found.graph);
    const bool unsound = !proven.ok() && proven.error().code == ErrorCode::not_equal &&
                         certificate.size() > only_folded.size();
    if (unsound) {  // equal in exact numbers, but not in those this model holds: what it is without any
                    // rewrite
        costs.forgive();
        without = all_but_folding(without);
        certificate = only_folded;
        found.graph = folded;
        proven = proven_plan(folded);
    }
    VIRIDIAN_TRY(Proven optimized, std::move(proven));

    progress.show("running before and after and what they consist of, interleaved");
    VIRIDIAN_TRY(std::vector<Ran> ran,
                 run_in_one_spell(*device, costs, {&baseline, &optimized.planned}, question.inputs[0]));
    Ran& before = ran[0];
    Ran& after = ran[1];
    VIRIDIAN_TRY(before.energy, run_energy(baseline, energy, before.seconds, question.inputs[0]));
    VIRIDIAN_TRY(after.energy, run_energy(optimized.planned, energy, after.seconds, question.inputs[0]));
    VIRIDIAN_TRY(after.step_seconds, step_seconds(optimized.planned, question.inputs[0], 21));
    const plan::Plan& plan = optimized.planned.plan;
    VIRIDIAN_TRY(
        database.put_residual({options.model.model, fmt::format("{:016x}", plan.graph_hash), plan.device,
                               plan.threads, total(after.prices).seconds, Seconds(after.seconds.median)}));

    const plan::Assignment& assignment = plan.assignment;
    Json result = {
        {"schema", "viridian.optimize/1"},
        {"model", Path(options.model.model).filename().string()},
        {"device", this_machine().cpu_model},
        {"fingerprint", plan.device},
        {"library", plan.library},
        {"threads", plan.threads},
        {"objective", search::text(objective)},
        {"meter", energy.name()},
        {"baseline", side_json(baseline, before)},
        {"optimized", side_json(optimized.planned, after)},
        {"assignment", assignment_json(assignment)},
        {"rewrites", rewrites_json(certificate)},
        {"search", search_json(options.search, found)},
        {"forecast", forecast.json()},
        {"verification", optimized.json()},
        {"database",
         {{"hits", costs.counts().hits}, {"misses", costs.counts().misses}, {"again", costs.counts().again}}},
        {"layers", layers_json(optimized.planned, after.prices, after.step_seconds)},
        {"files", files.json(execute::rounds(optimized.planned.graph, plan))}};
    if (allows_bf16(options.model))
        result["precision"] = precision_json(optimized.planned, optimized.forbidden);
    if (unsound) result["verification"]["rewrites_dropped"] = true;
    if (options.search.frontier) {
        progress.show("best trades of time against energy");
        search::AssignOptions limited = solver;
        limited.keep_f32 = optimized.limits.keep_f32;
        const cost::Source prices = costs.source();
        VIRIDIAN_TRY(result["frontier"], frontier_of(optimized.planned.graph,
                                                     within(prices, optimized.limits.unfiltered), limited));
    }
    result["elapsed_seconds"] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();

    progress.show("writing");
    if (!options.record.empty()) {
        for (const graph::Graph* priced : {&baseline.graph, &optimized.planned.graph}) {
            VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(*priced));
            VIRIDIAN_TRY(recording.hear_again(*priced, regions, costs.source()));
            VIRIDIAN_TRY(ask_for_all({*priced}, source));  // conversions
        }
    }
    recording.device = this_machine().cpu_model;
    VIRIDIAN_TRY(const std::string page, report::page(result));
    const Json sidecar =
        sidecar_json(optimized.planned.graph, plan,
                     {search::text(objective), allows_bf16(options.model), options.max_error, without});
    OptimizeContents contents{
        .model = optimized.planned.graph,
        .bf16 = {},
        .plan = sidecar.dump(1) + "\n",
        .page = page,
        .certificate = rewrite::to_json({certificate, structural_hash(found.graph)}).dump(1) + "\n",
        .record = to_text(recording)};
    if (execute::rounds(optimized.planned.graph, plan)) {
        VIRIDIAN_TRY(contents.bf16, plan::with_casts(optimized.planned.graph, assignment));
        VIRIDIAN_TRY(contents.bf16_weights, plan::with_weights_cast(optimized.planned.graph, assignment));
    }
    VIRIDIAN_TRY(files.write(contents));
    return Answer{result, optimize_text(result)};
}

// With prices from a file nothing is timed or run, so that these would be ignored.
Result<void> refuse_beside_recorded(const CLI::App& app) {
    std::string given;
    for (const char* name :
         {"--allow", "--max-error", "--inputs", "--seed", "--proofs", "--meter", "--threads", "--db"})
        if (app.get_option(name)->count() > 0) given += (given.empty() ? "" : ", ") + std::string(name);
    if (given.empty()) return {};
    return fail(ErrorCode::invalid_argument, "leave them out, or leave out --recorded",
                "`--recorded` times and runs nothing, so it cannot do as {} say", given);
}

}  // namespace

Command optimize_command() {
    return {
        "optimize", "The cheapest plan for a model on this machine, proven equal to it",
        "viridian optimize resnet50.onnx -o resnet50.opt.onnx --objective energy", [](CLI::App& app) {
            auto options = std::make_shared<Options>();
            add_model_options(app, options->model);
            add_cost_options(app, options->model);
            add_search_options(app, options->search);
            app.get_option("MODEL")->required(false);  // --list-rules needs none
            app.add_option(
                "-o,--output", options->output,
                "The .onnx to write, in f32; .plan.json, .certificate.json and .html go beside it, and "
                ".bf16.onnx (operators in bf16) and .bf16-weights.onnx (weights alone; runs in ONNX "
                "Runtime) where the plan uses bf16");
            app.add_option("--objective", options->objective,
                           "time, energy, power, a mix such as 0.5*energy+0.5*time, a product such as "
                           "energy^0.5*time^0.5, or with a limit: `energy @ time<=1.02x`")
                ->capture_default_str();
            app.add_option("--solver", options->solver, "exact, greedy, shortest-path or first")
                ->capture_default_str();
            app.add_option("--distance", options->distance, "How far `greedy` looks")
                ->check(CLI::Range(1, 100))
                ->capture_default_str();
            app.add_option("--recorded", options->recorded,
                           "Plan with the prices of this file, and time nothing (docs/cost.md)");
            app.add_option("--record", options->record, "Write the prices that the search asked for");
            app.add_option("--inputs", options->inputs,
                           "Calibrate and prove on these: NAME=FILE, FILE or FOLDER of .npy or .pb; the "
                           "k-th for an input is of set k (default: seeded ones)");
            app.add_option("--seed", options->seed, "Of the inputs the proof uses")->capture_default_str();
            app.add_option("--max-error", options->max_error,
                           "Relative L2 error that outputs may have (default: 0.02 with bf16, else 1e-4, "
                           "1e-3 with Winograd, and what its own roundings explain for a model in f16)")
                ->check(CLI::Range(1e-9, 1.0));
            app.add_option(
                   "--proofs", options->proofs,
                   "Sets of inputs the proof uses (default: 3; above 20 GFLOP 1, and each kernel by itself)")
                ->check(CLI::Range(1, 100));
            return [options, &app]() -> Result<Answer> {
                if (!options->recorded.empty()) {
                    VIRIDIAN_TRY(refuse_beside_recorded(app));
                }
                return optimize(*options);
            };
        }};
}

}  // namespace viridian::cli
