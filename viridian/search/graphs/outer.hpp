#pragma once
// Searches the graphs that compute the same as the given one for the one with the cheapest assignment.
// docs/search.md draws the life of one graph.
//
// `backtracking` is EAGO, Algorithm 1 (after Jia et al., MetaFlow): it prices the graphs one substitution
// away from the cheapest in its queue, and keeps those that cost less than α times the best. `joint` looks at
// every place of the graph by itself, several substitutions deep, then takes the cheapest set of changes that
// do not touch each other; when nothing is left it backtracks from there, and from all that it met on the
// way. A graph that was met before, by structural hash, is not priced again. The search is deterministic
// unless time runs out.
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/search/assign/assign.hpp"

namespace viridian::search {

// OuterMethod names these two methods; `none` searches no other graphs.
enum class OuterMethod { joint, backtracking, none };
[[nodiscard]] std::string_view name_of(OuterMethod method);
// Returns the method of this name. Errors: invalid_argument, with the list.
[[nodiscard]] Result<OuterMethod> parse_outer_method(std::string_view name);

// OuterProgress says how far a search has come.
struct OuterProgress {
    std::size_t graphs = 0;   // assigned so far
    std::size_t waiting = 0;  // in the queue
    double best = 0;          // objective
    Seconds seconds;          // since the search began
};

// Pricing says how graphs on the way are priced.
enum class Pricing {
    local,  // assigns the nodes near a substitution anew (local_estimate.hpp); the whole graph if that
            // promises a new best, and when the search goes on from it
    whole,  // assigns every graph as a whole
};

// EndedBy says why a search ended: nothing was left to try, the budget of graphs or of time was used up, or
// the user cancelled it.
enum class EndedBy { exhausted, graphs, time, cancelled };
[[nodiscard]] std::string_view name_of(EndedBy reason);

// OuterOptions are what a caller may decide about a search.
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

// An OuterResult is the best graph found, with its assignment and how it was found.
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

// Searches from `graph`, which should be simplified; otherwise rules that always pay are found on the way.
// Mixes and limits are relative to the plan of the given graph by the solver `first`, unless
// options.assign.start says otherwise. Errors: those of the first assignment, and of `source`.
[[nodiscard]] Result<OuterResult> outer_search(const graph::Graph& graph, const cost::PriceSource& source,
                                               const Objective& objective, const OuterOptions& options = {});

}  // namespace viridian::search
