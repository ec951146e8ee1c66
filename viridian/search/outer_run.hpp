#pragma once
// One outer search under way: prices graphs, remembers those seen and the best, knows when to stop.
#include <chrono>
#include <unordered_set>

#include "viridian/search/outer.hpp"

namespace viridian::search {

class OuterRun {
  public:
    OuterRun(const cost::Source& source, const Objective& objective, const OuterOptions& options);

    [[nodiscard]] const OuterOptions& options() const { return options_; }
    [[nodiscard]] const rewrite::Options& rules() const { return rules_; }
    [[nodiscard]] const OuterResult& best() const { return best_; }
    [[nodiscard]] double best_cost() const { return best_.outcome.assignment.value; }

    // Prices the first graph; the clock starts after it.
    Result<void> begin(const graph::Graph& graph);
    // Why the search shall end now, if it shall.
    [[nodiscard]] std::optional<EndedBy> stopped() const;
    // The cheapest assignment's cost of a graph that was not seen before; nothing where it was, where a
    // kernel or price is missing, or where the user asked to stop. The best is kept with its certificate.
    Result<std::optional<double>> price(const graph::Graph& graph, const rewrite::Certificate& certificate,
                                        std::size_t waiting);
    OuterResult finish() &&;

  private:
    [[nodiscard]] Result<Outcome> assign(const graph::Graph& graph) const;
    [[nodiscard]] OuterProgress now(std::size_t waiting) const;

    const cost::Source& source_;
    const Objective& objective_;
    OuterOptions options_;
    rewrite::Options rules_;
    rewrite::FoldCache folds_;
    std::chrono::steady_clock::time_point begin_;
    std::unordered_set<std::uint64_t> seen_;
    OuterResult best_;
    bool cancelled_ = false;
};

// A graph on the way, and how the given one becomes it.
struct Place {
    graph::Graph graph;
    rewrite::Certificate certificate;
    double cost = 0;
};

// EAGO, Algorithm 1, from here; until a budget ends or the queue is empty.
Result<void> backtrack(OuterRun& run, Place from);
// Joint changes from here; returns where none is left, or a budget ended it.
Result<Place> improve_jointly(OuterRun& run, Place from);

}  // namespace viridian::search
