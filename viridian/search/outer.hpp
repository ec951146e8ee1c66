#pragma once
// EAGO, Algorithm 1: graphs one substitution away from those in the queue, each with its cheapest assignment;
// a graph is kept for further substitution while its cost is below α times the best. Graphs seen before (by
// structural hash) are not looked at again; the cheapest waits in front (Jia et al., MetaFlow). Deterministic
// but for the time limit.
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/search/assign.hpp"

namespace viridian::search {

struct OuterProgress {
    std::size_t graphs = 0;   // assigned so far
    std::size_t waiting = 0;  // in the queue
    double best = 0;          // objective
    Seconds seconds;          // since the search began
};

enum class EndedBy { exhausted, graphs, time, cancelled };
[[nodiscard]] std::string_view name_of(EndedBy reason);

struct OuterOptions {
    double alpha = 1.05;
    std::size_t most_graphs = 1000;
    Seconds time_limit{60};
    AssignOptions assign;
    rewrite::Options rules;
    std::function<void(const OuterProgress&)> progress;
    std::function<bool()> cancelled;  // ends the search with the best so far
};

struct OuterResult {
    graph::Graph graph;
    Outcome outcome;
    rewrite::Certificate certificate;  // from the given graph to this one
    std::size_t graphs = 0;
    Seconds seconds;
    EndedBy ended_by = EndedBy::exhausted;    // the queue ran empty: a budget cut nothing
    std::vector<OuterProgress> improvements;  // each time a better plan was found
    std::size_t unpriced = 0;                 // graphs left out because some kernel or price is missing
};

// Mixes and limits are relative to the given graph's plan by `first`, unless options.assign.start says
// otherwise. Errors: those of the first assignment, and of the source.
[[nodiscard]] Result<OuterResult> outer_search(const graph::Graph& graph, const cost::Source& source,
                                               const Objective& objective, const OuterOptions& options = {});

}  // namespace viridian::search
