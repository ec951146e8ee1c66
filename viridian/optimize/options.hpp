#pragma once
// Defines what a user may ask of `optimize`.
#include "viridian/prove/reference_cache.hpp"
#include "viridian/search/graphs/outer.hpp"

namespace viridian::optimize {

// A SearchBudget says how much the outer search may spend: graphs that it prices, and seconds, which
// include measuring what its graphs need.
struct SearchBudget {
    std::size_t graphs = 1000;
    Seconds seconds{60};
    bool operator==(const SearchBudget&) const = default;
};

// Reads a budget: "300", "60s", "5m", "1h" or "300,60s". A part that the text leaves out keeps its default.
// Errors: invalid_argument.
[[nodiscard]] Result<SearchBudget> parse_budget(std::string_view text);
[[nodiscard]] std::string text(const SearchBudget& budget);  // "1000,60s"

// OptimizeOptions are the options of one call.
struct OptimizeOptions {
    search::Objective objective;                              // what to minimise
    search::AssignOptions assign;                             // the solver, and how far `greedy` looks
    search::OuterMethod method = search::OuterMethod::joint;  // how equal graphs are searched, or `none`
    double alpha = 1.05;  // the search goes on from graphs that cost less than this times the best
    SearchBudget budget;
    std::vector<std::string> without;  // names of rewrite rules that are not used
    bool frontier = false;             // also find all best trades of time against energy
    bool record = false;               // keep every price that the search asked for
    bool bf16 = false;                 // the device may offer bf16; the result then says where it is used
    bool exact_arithmetic = false;     // the device offers neither minimal filtering nor Strassen
    bool keep_original = false;        // if runs show no gain, the result is the model as it was given
    // Whether regions, and whole plans, may run on fewer threads than the device has. Absent: if joules
    // count.
    std::optional<bool> fewer_threads;

    // The members below concern the proof that outputs stay the same (docs/method.md, 4).
    prove::TensorSets inputs;  // one list of the graph's inputs per set; empty: made from `seed`
    std::uint64_t seed = 1;
    int proofs = 0;  // how many sets to make from `seed`; 0: three, or one for a large model
    // `max_error` is the relative L2 error that outputs may have. Without it they may have the error that
    // the plan's kernels explain.
    std::optional<double> max_error;
    std::optional<prove::ReferenceCache> reference;  // keeps what the reference kernels computed
};

// Returns whether regions may run on fewer threads than the device has: the user's word, else whether joules
// count in the objective or a frontier is asked for. Otherwise nothing is gained, and prices take twice as
// long.
[[nodiscard]] bool tries_fewer_threads(const OptimizeOptions& options);
// Returns whether joules count in the objective.
[[nodiscard]] bool weighs_joules(const search::Objective& objective);

}  // namespace viridian::optimize
