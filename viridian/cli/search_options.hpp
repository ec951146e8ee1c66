#pragma once
// The options of the outer search, and the search itself as `optimize` runs it.
#include "viridian/cli/command.hpp"
#include "viridian/cli/interrupt.hpp"
#include "viridian/cli/progress.hpp"
#include "viridian/search/hull.hpp"
#include "viridian/search/outer.hpp"

namespace viridian::cli {

struct SearchOptions {
    std::string method = "joint";
    double alpha = 1.05;
    std::string budget = "1000,60s";
    std::vector<std::string> without;
    bool list_rules = false;
    bool frontier = false;
};

void add_search_options(CLI::App& app, SearchOptions& options);

struct Budget {
    std::size_t graphs = 1000;
    Seconds seconds{60};
};
// "300", "60s", "5m", "300,60s"; what is not said stays as it is by default. Errors: invalid_argument.
[[nodiscard]] Result<Budget> parse_budget(std::string_view text);

// Rules as `--list-rules` shows them, and as docs/rules.md has them.
[[nodiscard]] Answer list_rules();

// From `graph` to the cheapest one found, with progress shown; Ctrl-C ends it with the best so far.
[[nodiscard]] Result<search::OuterResult> search_graphs(const graph::Graph& graph, const cost::Source& source,
                                                        const search::Objective& objective,
                                                        const search::AssignOptions& assign,
                                                        const SearchOptions& options, Progress& progress,
                                                        const Interrupt& interrupt);

// alpha, budget, graphs, what ended it and what it left out, best cost as it fell.
[[nodiscard]] Json search_json(const SearchOptions& options, const search::OuterResult& result);
// Vertices by rising time, and the area not resolved.
[[nodiscard]] Json frontier_json(const search::Frontier& frontier);

}  // namespace viridian::cli
