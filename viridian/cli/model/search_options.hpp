#pragma once
// Declares the options of `viridian optimize` that say what to minimise, how to search and for how long, and
// how to prove the result.
#include "viridian/cli/command.hpp"
#include "viridian/optimize/options.hpp"

namespace viridian::cli {

// SearchOptions holds the values as the user gives them.
struct SearchOptions {
    std::string objective = "time";  // --objective: "energy", "0.5*energy+0.5*time", "energy @ time<=1.02x"
    std::string solver = "exact";    // --solver: a name of search::solver_names()
    std::size_t distance = 1;        // --distance of the solver `greedy`
    std::string method = "joint";    // --search over equal graphs: joint, backtracking, none
    double alpha = 1.05;  // --alpha: graphs that cost less than alpha × the best are searched further
    std::string budget = "1000,60s";   // --budget: graphs and time of the search
    std::vector<std::string> without;  // --without: rewrite rules that are not used
    bool list_rules = false;           // --list-rules
    bool frontier = false;             // --frontier: also all best trades of time against energy
    bool keep_original = false;        // --keep-original: write the given model if no gain is shown
    std::string region_threads;        // --region-threads: any, all; "": any if joules count
    // These are for the proof that the optimised model computes the same.
    std::uint64_t seed = 1;           // --seed of its inputs
    int proofs = 0;                   // --proofs: sets of inputs; 0: three, or one for a large model
    std::optional<double> max_error;  // --max-error, relative L2; none: by the precisions in use
};

// Adds the options to `optimize`; `options` must outlive parsing.
void add_search_options(App app, SearchOptions& options);

// Returns the library's options for the words in `options`. Errors: invalid_argument; unsupported for an
// objective that the solver cannot minimise.
[[nodiscard]] Result<optimize::OptimizeOptions> parse(const SearchOptions& options);

// Returns the rewrite rules as `--list-rules` shows them. docs/rules.md has this text.
[[nodiscard]] Answer list_rules();

}  // namespace viridian::cli
