#pragma once
// A Strategy keeps the graphs that one strategy of the outer search has met: the cost of each, a queue of
// those from which the search may continue, and the best one. The two strategies are Algorithm 1
// (`backtrack`) and joint changes (`improve_jointly`).
#include <set>
#include <unordered_map>

#include "viridian/search/graphs/local_estimate.hpp"
#include "viridian/search/graphs/outer.hpp"

namespace viridian::search {

class SearchState;

// A RewrittenGraph is a graph of the search, with the certificate that leads to it from the given one.
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

    // Starts from `graph`, which `outcome` assigns.
    void begin(const graph::Graph& graph, const Outcome& outcome);
    [[nodiscard]] SearchState& shared() const { return shared_; }
    [[nodiscard]] std::size_t graphs() const { return graphs_; }  // priced so far, the given one included
    [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
    [[nodiscard]] const RewrittenGraph& best() const { return best_; }
    [[nodiscard]] const Outcome& best_outcome() const { return best_outcome_; }
    [[nodiscard]] double best_cost() const { return best_.cost; }
    // Returns the cost found for the graph of this structural hash, or nothing if it was not met or has no
    // price.
    [[nodiscard]] std::optional<double> known_cost(std::uint64_t hash) const;
    // Takes the best graph of `other` if that is better.
    void adopt(const Strategy& other);

    // Makes `base` the graph from which the next ones are made. It is assigned as a whole if estimates
    // refer to it; returns false if that is not possible. The caller keeps `base` alive and in its place
    // until the next call.
    Result<bool> set_base(RewrittenGraph& base);
    // Prices a graph made from the base, and puts it into the queue if it costs less than α times the best.
    // A new best is assigned as a whole before it is believed. Returns false if the graph was met before,
    // if a kernel or price is missing, or if the search was stopped.
    Result<bool> price(RewrittenGraph& graph);
    // Does the same as price(), but a new best stays an estimate, and a graph that was met before gets the
    // cost that it had then.
    Result<bool> estimate(RewrittenGraph& graph);
    // Does the same as price(), but always assigns the graph as a whole. It becomes the best only if it
    // costs less than `below`.
    Result<bool> price_whole(RewrittenGraph& graph, double below = infinite);

    // Puts a graph into the queue, before those of equal cost.
    void enqueue(RewrittenGraph graph) { queue_.insert({graph.cost, 0, std::move(graph)}); }
    // Takes the cheapest graph out of the queue; returns nothing if the queue is empty.
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
    // Prices a graph whose hash is known, by an estimate if there is a base. With `confirm` a new best is
    // assigned as a whole.
    Result<bool> price_hashed(RewrittenGraph& graph, bool confirm);
    // Puts a graph into the queue if it costs less than α times the best.
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

// Does one step of EAGO, Algorithm 1: it prices all graphs that are one substitution away from the cheapest
// in the queue. Returns false if the queue holds nothing promising.
Result<bool> expand(Strategy& strategy);
// Expands until a budget ends the search or nothing is left.
Result<void> backtrack(Strategy& strategy);
// Makes joint changes, starting from the best graph of `lead`, in turns with Algorithm 1 in `beside`, until
// neither finds more or a budget ends it. The lead's queue then holds what it priced on the way.
Result<void> improve_jointly(Strategy& lead, Strategy& beside);

// Returns the graphs that rules of kind `whole` make of `from`. Each rule is applied at a few nodes, from
// the last to the first, and each of these changes is one graph.
Result<std::vector<RewrittenGraph>> whole_changes(const RewrittenGraph& from,
                                                  const rewrite::Options& options);
// Prices `changes`. Returns true if one of them is now the best, by a margin.
Result<bool> try_changes(Strategy& strategy, std::vector<RewrittenGraph> changes);

}  // namespace viridian::search
