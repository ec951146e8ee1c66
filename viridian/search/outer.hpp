#pragma once
// The outer search: equal graphs, each with its cheapest assignment.
//
// `backtracking` is EAGO, Algorithm 1 (after Jia et al., MetaFlow): graphs one substitution away from those
// in the queue; a graph is kept for further substitution while its cost is below α times the best; the
// cheapest waits in front. `joint` looks at every place of the graph by itself, several substitutions deep,
// then takes the cheapest set of changes that do not meet; where nothing is left it backtracks from there,
// and from all that it met on the way (docs/search.md). Graphs seen before, by structural hash, are not
// looked at again. Deterministic but for the time limit.
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/search/assign.hpp"

namespace viridian::search {

enum class OuterMethod { joint, backtracking, none };
[[nodiscard]] std::string_view name_of(OuterMethod method);
// Errors: invalid_argument, with the list.
[[nodiscard]] Result<OuterMethod> parse_outer_method(std::string_view name);

struct OuterProgress {
    std::size_t graphs = 0;   // assigned so far
    std::size_t waiting = 0;  // in the queue
    double best = 0;          // objective
    Seconds seconds;          // since the search began
};

// How graphs on the way are priced.
enum class Reassign {
    near,   // what a substitution touched is assigned anew; the whole graph where that promises a new best,
            // and where the search goes on from it
    whole,  // every graph is assigned as a whole
};

enum class EndedBy { exhausted, graphs, time, cancelled };
[[nodiscard]] std::string_view name_of(EndedBy reason);

struct OuterOptions {
    OuterMethod method = OuterMethod::joint;
    double alpha = 1.05;
    std::size_t most_graphs = 1000;
    Seconds time_limit{60};
    Reassign reassign = Reassign::near;
    int radius = 3;         // near: steps around what was touched
    std::size_t depth = 3;  // joint: substitutions in one place
    std::size_t width = 3;  // joint: of them, how many partial ones are followed
    AssignOptions assign;
    rewrite::Options rules;
    std::function<void(const OuterProgress&)> progress;
    std::function<bool()> cancelled;                                   // ends the search with the best so far
    std::function<void(const graph::Graph&, const Outcome&)> visited;  // every graph, assigned as a whole
};

struct OuterResult {
    graph::Graph graph;
    Outcome outcome;
    rewrite::Certificate certificate;  // from the given graph to this one
    std::size_t graphs = 0;
    std::size_t whole = 0;  // of them, how many were assigned as a whole
    Seconds seconds;
    EndedBy ended_by = EndedBy::exhausted;    // nothing is left: a budget cut nothing
    std::vector<OuterProgress> improvements;  // each time a better plan was found
    std::size_t unpriced = 0;                 // graphs left out because some kernel or price is missing
    std::size_t crowded_out = 0;              // graphs not gone on from because too many cheaper ones waited
};

// `graph` is simplified, or rules that always pay are found on the way. Mixes and limits are relative to the
// given graph's plan by `first`, unless options.assign.start says otherwise. Errors: those of the first
// assignment, and of the source.
[[nodiscard]] Result<OuterResult> outer_search(const graph::Graph& graph, const cost::Source& source,
                                               const Objective& objective, const OuterOptions& options = {});

}  // namespace viridian::search
