#include "viridian/search/exact/improve.hpp"

#include <algorithm>

#include "viridian/search/exact/eliminate.hpp"

namespace viridian::search {
namespace {

constexpr double most_work = 2e6;  // of solving one neighbourhood

// Infinite costs counted apart, so that a descent can leave the infinite.
struct Cost {
    int forbidden = 0;
    double finite = 0;
    void add(double cost) {
        if (cost == infinite)
            ++forbidden;
        else
            finite += cost;
    }
    bool below(const Cost& other) const {
        return forbidden != other.forbidden ? forbidden < other.forbidden : finite < other.finite;
    }
};

}  // namespace

Improver::Improver(const Problem& problem) : problem_(&problem), edges_of_(problem.size()) {
    for (std::uint32_t e = 0; e < problem.edges().size(); ++e) {
        edges_of_[problem.edges()[e].a].push_back(e);
        edges_of_[problem.edges()[e].b].push_back(e);
    }
}

double Improver::descend(std::vector<State>& states) const {
    for (bool changed = true; changed;) {
        changed = false;
        for (Variable v = 0; v < problem_->size(); ++v) {
            const auto cost_of = [&](State s) {
                Cost cost;
                cost.add(problem_->costs(v)[s]);
                for (const std::uint32_t e : edges_of_[v]) {
                    const Problem::Edge& edge = problem_->edges()[e];
                    cost.add(edge.a == v ? edge.cost(s, states[edge.b]) : edge.cost(states[edge.a], s));
                }
                return cost;
            };
            Cost best = cost_of(states[v]);
            for (State s = 0; s < problem_->states(v); ++s)
                if (const Cost cost = cost_of(s); cost.below(best)) {
                    // Rounding must not make two states better than each other.
                    const bool clear = cost.forbidden < best.forbidden || cost.finite < best.finite - 1e-15;
                    if (!clear) continue;
                    best = cost;
                    states[v] = s;
                    changed = true;
                }
        }
    }
    return value(*problem_, states);
}

Problem Improver::subproblem(const std::vector<State>& states, std::span<const Variable> free) const {
    std::vector<std::int64_t> number(problem_->size(), -1);
    Problem out;
    for (const Variable v : free) number[v] = out.add_variable(problem_->costs(v));
    for (const Variable v : free)
        for (const std::uint32_t e : edges_of_[v]) {
            const Problem::Edge& edge = problem_->edges()[e];
            const Variable other = edge.a == v ? edge.b : edge.a;
            if (number[other] >= 0) {
                if (edge.a == v)
                    out.add_cost(static_cast<Variable>(number[v]), static_cast<Variable>(number[other]),
                                 edge.cost);
            } else {
                for (State s = 0; s < problem_->states(v); ++s)
                    out.add_cost(static_cast<Variable>(number[v]), s,
                                 edge.a == v ? edge.cost(s, states[other]) : edge.cost(states[other], s));
            }
        }
    return out;
}

double Improver::search(std::vector<State>& states, Random& random, std::size_t rounds) {
    double best = value(*problem_, states);
    if (problem_->size() == 0) return best;
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto freed = static_cast<std::size_t>(freed_);
        std::vector<Variable> free = {static_cast<Variable>(random.below(problem_->size()))};
        std::vector<bool> taken(problem_->size(), false);
        taken[free[0]] = true;
        for (std::size_t at = 0; at < free.size() && free.size() < freed; ++at)
            for (const std::uint32_t e : edges_of_[free[at]]) {
                const Problem::Edge& edge = problem_->edges()[e];
                const Variable other = edge.a == free[at] ? edge.b : edge.a;
                if (taken[other] || free.size() >= freed || random.chance(0.3)) continue;
                taken[other] = true;
                free.push_back(other);
            }
        const Problem part = subproblem(states, free);
        const EliminationOrder order = elimination_order(part);
        if (order.work > most_work) {
            freed_ = std::max(4.0, 0.8 * freed_);
            continue;
        }
        freed_ = std::min(static_cast<double>(problem_->size()), 1.1 * freed_);
        const Solution solution = eliminate(part, order.order);
        if (solution.states.empty()) continue;
        std::vector<State> changed = states;
        for (std::size_t i = 0; i < free.size(); ++i) changed[free[i]] = solution.states[i];
        if (const double found = value(*problem_, changed); found < best) {
            best = found;
            states = std::move(changed);
        }
    }
    return best;
}

}  // namespace viridian::search
