#include "viridian/cli/model/search_options.hpp"

#include "viridian/search/assign/solvers.hpp"

namespace viridian::cli {

void add_search_options(App app, SearchOptions& options) {
    app.add_option("--objective", options.objective,
                   "time, energy, power, a mix such as 0.5*energy+0.5*time, a product such as "
                   "energy^0.5*time^0.5, or with a limit: `energy @ time<=1.02x`")
        .capture_default_str();
    app.add_option("--solver", options.solver, search::solver_names()).capture_default_str();
    app.add_option("--distance", options.distance, "How far `greedy` looks")
        .check(in_range(1, 100))
        .capture_default_str();
    app.add_option("--search", options.method,
                   "How to search equal graphs: joint, backtracking (EAGO Algorithm 1), or none (only rules "
                   "that always pay)")
        .check(one_of({"joint", "backtracking", "none"}))
        .capture_default_str();
    app.add_option("--alpha", options.alpha, "Keep graphs that cost less than this factor times the best")
        .check(in_range(1.0, 10.0))
        .capture_default_str();
    app.add_option("--budget", options.budget,
                   "Graphs and time of the search, as 300, 60s, 5m or 300,60s; measuring prices for new "
                   "graphs counts, measuring the given model's prices does not")
        .capture_default_str();
    app.add_option("--without", options.without, "Do not use this rewrite rule; may be given several times");
    app.add_flag("--list-rules", options.list_rules, "Print the rewrite rules, and do nothing else");
    app.add_flag(
        "--frontier", options.frontier,
        "Also list the plans that no other beats in both time and energy, for the graph that was found");
    app.add_flag("--keep-original", options.keep_original,
                 "Write the model as it was given if the runs show no gain by the objective");
    app.add_option("--region-threads", options.region_threads,
                   "any: regions may run on fewer threads, while the others sleep; all: they may not "
                   "(default: any if joules count in the objective, or with --frontier)")
        .check(one_of({"any", "all"}));
    app.add_option("--seed", options.seed, "Seed of the inputs that the proof uses").capture_default_str();
    app.add_option(
           "--max-error", options.max_error,
           "Relative L2 error that outputs may have (default: with bf16 0.02, and 0.0447 for gradients; "
           "otherwise 1e-4, or 1e-3 with Winograd; for a model in f16, what its own roundings explain)")
        .check(in_range(1e-9, 1.0));
    app.add_option("--proofs", options.proofs,
                   "Sets of inputs the proof uses (default: 3; above 20 GFLOP 1, and each kernel by itself)")
        .check(in_range(1, 100));
}

Result<optimize::OptimizeOptions> parse(const SearchOptions& options) {
    optimize::OptimizeOptions parsed;
    VIRIDIAN_TRY(parsed.objective, search::parse_objective(options.objective));
    VIRIDIAN_TRY(parsed.budget, optimize::parse_budget(options.budget));
    VIRIDIAN_TRY(parsed.assign.solver, search::find_solver(options.solver));
    parsed.assign.distance = options.distance;
    VIRIDIAN_TRY(parsed.assign.solver->can(parsed.objective));
    VIRIDIAN_TRY(parsed.method, search::parse_outer_method(options.method));
    parsed.alpha = options.alpha;
    parsed.without = options.without;
    parsed.frontier = options.frontier;
    parsed.keep_original = options.keep_original;
    if (!options.region_threads.empty()) parsed.fewer_threads = options.region_threads == "any";
    parsed.seed = options.seed;
    parsed.proofs = options.proofs;
    parsed.max_error = options.max_error;
    return parsed;
}

}  // namespace viridian::cli
