#include "viridian/search/graphs/strategy.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/search/graphs/search_state.hpp"

namespace viridian::search {
namespace {

constexpr std::size_t longest_queue = 4096;

}  // namespace

void Strategy::begin(const graph::Graph& graph, const Outcome& outcome) {
    best_ = {graph, {}, outcome.assignment.value};
    best_outcome_ = outcome;
    costs_.emplace(structural_hash(graph), best_.cost);
    graphs_ = 1;
}

std::optional<double> Strategy::known_cost(std::uint64_t hash) const {
    const auto at = costs_.find(hash);
    return at == costs_.end() || at->second == infinite ? std::nullopt : std::optional(at->second);
}

void Strategy::adopt(const Strategy& other) {
    if (!(other.best_cost() < best_cost())) return;
    best_ = other.best_;
    best_outcome_ = other.best_outcome_;
}

void Strategy::enqueue_if_promising(const RewrittenGraph& graph) {
    if (!(graph.cost < shared_.options().alpha * best_cost())) return;
    queue_.insert({graph.cost, graphs_, graph});
    if (queue_.size() <= longest_queue) return;
    queue_.erase(std::prev(queue_.end()));
    shared_.count_crowded_out();
}

std::optional<RewrittenGraph> Strategy::next() {
    if (queue_.empty()) return std::nullopt;
    return std::move(queue_.extract(queue_.begin()).value().graph);
}

Result<bool> Strategy::set_base(RewrittenGraph& base) {
    near_base_.reset();
    if (shared_.options().pricing == Pricing::whole) return true;
    VIRIDIAN_TRY(auto outcome, shared_.assign_whole(base.graph));
    if (!outcome) return false;
    base_ = std::move(*outcome);
    base.cost = base_.assignment.value;
    base.exact = true;
    shared_.estimate_from(base.graph, base_, near_base_);
    return true;
}

Result<bool> Strategy::price_whole(RewrittenGraph& graph, double below) {
    graph.hash = structural_hash(graph.graph);
    const auto [known, fresh] = costs_.try_emplace(graph.hash, infinite);
    if (!fresh) return false;
    double& cost = known->second;  // stays where it is
    ++graphs_;
    VIRIDIAN_TRY(auto outcome, shared_.assign_whole(graph.graph));
    if (!outcome) return false;
    if (shared_.options().visited) shared_.options().visited(graph.graph, *outcome);
    graph.cost = cost = outcome->assignment.value;
    graph.exact = true;
    if (graph.cost < std::min(best_cost(), below)) {
        const bool best_of_all = graph.cost < shared_.best_cost();
        best_ = graph;
        best_outcome_ = std::move(*outcome);
        if (best_of_all) shared_.report_improvement();
    }
    enqueue_if_promising(graph);
    shared_.report_progress();
    return true;
}

Result<bool> Strategy::price(RewrittenGraph& graph) {
    graph.hash = structural_hash(graph.graph);
    return price_hashed(graph, true);
}

Result<bool> Strategy::estimate(RewrittenGraph& graph) {
    graph.hash = structural_hash(graph.graph);
    const auto known = costs_.find(graph.hash);
    if (known == costs_.end()) return price_hashed(graph, false);
    graph.cost = known->second;
    graph.exact = false;
    return graph.cost < infinite;
}

// Prices a graph whose hash is known, by an estimate if there is a base.
Result<bool> Strategy::price_hashed(RewrittenGraph& graph, bool confirm) {
    if (!near_base_) return price_whole(graph);
    if (!costs_.try_emplace(graph.hash, infinite).second) return false;
    std::optional<double> estimate = shared_.known_to_other(*this, graph.hash);
    const bool asked = !estimate;
    if (asked) {
        VIRIDIAN_TRY(estimate, shared_.estimate(*near_base_, graph.graph));
    }
    if (!estimate) {
        ++graphs_;
        return false;
    }
    if (confirm && *estimate < best_cost() - 1e-9 * std::abs(best_cost())) {
        costs_.erase(graph.hash);
        return price_whole(graph);
    }
    graphs_ += asked ? 1 : 0;
    graph.cost = costs_[graph.hash] = *estimate;
    graph.exact = false;
    enqueue_if_promising(graph);
    shared_.report_progress();
    return true;
}

}  // namespace viridian::search
