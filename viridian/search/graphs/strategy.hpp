#pragma once
// Keeps the graphs that one strategy of the outer search has met: what each costs, which wait to be gone on
// from, and the best. The two strategies are Algorithm 1 (`backtrack`) and joint changes (`improve_jointly`).
#include <set>
#include <unordered_map>

#include "viridian/search/graphs/local_estimate.hpp"
#include "viridian/search/graphs/outer.hpp"

namespace viridian::search {

class SearchState;

// A graph on the way, and how the given one becomes it.
struct RewrittenGraph {
    graph::Graph graph;
    rewrite::Certificate certificate = {};
    double cost = 0;         // the objective's value
    bool exact = true;       // `cost` is that of the whole graph's assignment, not an estimate
    std::uint64_t hash = 0;  // structural, once priced
};

class Strategy {
  public:
    explicit Strategy(SearchState& shared) : shared_(shared) { best_.cost = infinite; }

    // Starts from this graph, which `outcome` assigns.
    void begin(const graph::Graph& graph, const Outcome& outcome);
    [[nodiscard]] SearchState& shared() const { return shared_; }
    [[nodiscard]] std::size_t graphs() const { return graphs_; }  // priced so far, the given one included
    [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
    [[nodiscard]] const RewrittenGraph& best() const { return best_; }
    [[nodiscard]] const Outcome& best_outcome() const { return best_outcome_; }
    [[nodiscard]] double best_cost() const { return best_.cost; }
    // What this graph was found to cost; absent if it was not met, or has no price.
    [[nodiscard]] std::optional<double> known_cost(std::uint64_t hash) const;
    // Takes the other's best graph if that is better.
    void adopt(const Strategy& other);

    // Assigns the graph that the next ones are made from as a whole; false if that is not possible. The
    // caller keeps `base` alive and in its place until the next call.
    Result<bool> set_base(RewrittenGraph& base);
    // Prices a graph made from the base, and puts it into the queue if it costs less than α times the best. A
    // new best is assigned as a whole before it is believed. False: the graph was met before, a kernel or
    // price is missing, or the user asked to stop.
    Result<bool> price(RewrittenGraph& graph);
    // As price(), but a new best stays an estimate, and a graph that was met before has the cost it had then.
    Result<bool> estimate(RewrittenGraph& graph);
    // As price(), assigned as a whole; a new best only if it costs less than `below`.
    Result<bool> price_whole(RewrittenGraph& graph, double below = infinite);

    void enqueue(RewrittenGraph graph) { queue_.insert({graph.cost, 0, std::move(graph)}); }
    // The cheapest that waits.
    std::optional<RewrittenGraph> next();

  private:
    struct Waiting {
        double cost = 0;
        std::size_t number = 0;  // first come, first served among equals
        RewrittenGraph graph;
    };
    struct Cheaper {
        bool operator()(const Waiting& a, const Waiting& b) const {
            return a.cost != b.cost ? a.cost < b.cost : a.number < b.number;
        }
    };
    Result<bool> price_hashed(RewrittenGraph& graph, bool confirm);
    void enqueue_if_promising(const RewrittenGraph& graph);

    SearchState& shared_;
    std::unordered_map<std::uint64_t, double> costs_;  // by structural hash; infinite if it has no price
    std::set<Waiting, Cheaper> queue_;
    Outcome base_;
    std::optional<LocalEstimate> near_base_;
    RewrittenGraph best_;
    Outcome best_outcome_;
    std::size_t graphs_ = 0;
};

// EAGO, Algorithm 1: prices all graphs that are one substitution away from the cheapest in the queue. False:
// nothing is left.
Result<bool> expand(Strategy& strategy);
// Expands until a budget ends it or nothing is left.
Result<void> backtrack(Strategy& strategy);
// Makes joint changes from the lead's best graph on, in turns with Algorithm 1 in `beside`, until neither
// finds more or a budget ends it. The lead's queue then holds what it priced on the way.
Result<void> improve_jointly(Strategy& lead, Strategy& beside);

// Rules of the whole network, applied to one graph at a few of its nodes, from the last to the first.
Result<std::vector<RewrittenGraph>> whole_changes(const RewrittenGraph& from,
                                                  const rewrite::Options& options);
// Prices them; true if one of them is now the best, by a margin.
Result<bool> try_changes(Strategy& strategy, std::vector<RewrittenGraph> changes);

}  // namespace viridian::search
