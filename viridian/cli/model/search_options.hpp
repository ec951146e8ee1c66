#pragma once
// Declares the options of `optimize` that say what to search for and how long.
#include "viridian/cli/command.hpp"
#include "viridian/optimize/options.hpp"

namespace viridian::cli {

struct SearchOptions {
    std::string objective = "time";
    std::string solver = "exact";
    std::size_t distance = 1;  // how far `greedy` looks
    std::string method = "joint";
    double alpha = 1.05;
    std::string budget = "1000,60s";
    std::vector<std::string> without;
    bool list_rules = false;
    bool frontier = false;
    // The proof.
    std::uint64_t seed = 1;
    int proofs = 0;  // 0: three, or one for a large model
    std::optional<double> max_error;
};

void add_search_options(App app, SearchOptions& options);

// What the words mean. Errors: invalid_argument, unsupported for an objective that the solver cannot
// minimise.
[[nodiscard]] Result<optimize::OptimizeOptions> parse(const SearchOptions& options);

// The rewrite rules as `--list-rules` shows them, and as docs/rules.md has them.
[[nodiscard]] Answer list_rules();

}  // namespace viridian::cli
