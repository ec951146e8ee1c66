#pragma once
// Searches the graphs that compute the same as the given one for the one with the cheapest assignment.
// docs/search.md draws the life of one graph.
//
// `backtracking` is EAGO, Algorithm 1 (after Jia et al., MetaFlow): it prices the graphs one substitution
// away from the cheapest in its queue, and keeps those that cost less than α times the best. `joint` looks at
// every place of the graph by itself, several substitutions deep, then takes the cheapest set of changes that
// do not touch each other; when nothing is left it backtracks from there, and from all that it met on the
// way. A graph that was met before, by structural hash, is not priced again. Deterministic, except for when
// time runs out.
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/search/assign/assign.hpp"

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
enum class Pricing {
    local,  // assigns the nodes near a substitution anew (local_estimate.hpp); the whole graph if that
            // promises a new best, and when the search goes on from it
    whole,  // assigns every graph as a whole
};

enum class EndedBy { exhausted, graphs, time, cancelled };
[[nodiscard]] std::string_view name_of(EndedBy reason);

struct OuterOptions {
    OuterMethod method = OuterMethod::joint;
    double alpha = 1.05;
    std::size_t most_graphs = 1000;
    Seconds time_limit{60};
    Pricing pricing = Pricing::local;
    int radius = 3;         // local: steps around what was touched
    std::size_t depth = 3;  // joint: substitutions in one place
    std::size_t width = 3;  // joint: how many unfinished changes of one place are followed further
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
    std::size_t graphs = 0;            // priced; the given one counts for each strategy that starts from it
    std::size_t whole = 0;             // how many times a whole graph was assigned
    Seconds seconds;
    EndedBy ended_by = EndedBy::exhausted;    // `exhausted`: no budget cut anything
    std::vector<OuterProgress> improvements;  // one each time a better plan was found
    std::size_t unpriced = 0;                 // graphs left out because a kernel or price is missing
    std::size_t crowded_out = 0;              // graphs dropped because too many cheaper ones waited
};

// `graph` should be simplified; otherwise rules that always pay are found on the way. Mixes and limits are
// relative to the given graph's plan by the solver `first`, unless options.assign.start says otherwise.
// Errors: those of the first assignment, and of the source.
[[nodiscard]] Result<OuterResult> outer_search(const graph::Graph& graph, const cost::Source& source,
                                               const Objective& objective, const OuterOptions& options = {});

}  // namespace viridian::search
