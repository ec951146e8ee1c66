#include "viridian/search/exact/reduce.hpp"

#include <algorithm>
#include <map>

#include "viridian/search/exact/rows.hpp"

namespace viridian::search {

Core::Core(const Problem& problem, std::size_t most_entries) : size_(problem.size()) {
    std::vector<std::vector<double>> costs;
    for (Variable v = 0; v < size_; ++v) costs.push_back(problem.costs(v));
    // Both directions: rows are states of the key's variable in the neighbour's map.
    std::vector<std::map<Variable, Matrix>> around(size_);
    for (const Problem::Edge& edge : problem.edges()) {
        around[edge.b].emplace(edge.a, edge.cost);
        around[edge.a].emplace(edge.b, edge.cost.transposed());
    }
    std::vector<bool> gone(size_, false);
    std::vector<Variable> open(size_);
    for (Variable v = 0; v < size_; ++v) open[v] = static_cast<Variable>(size_ - 1 - v);
    while (!open.empty()) {
        const Variable v = open.back();
        open.pop_back();
        if (gone[v] || around[v].size() > 2) continue;
        if (around[v].size() == 2 &&
            costs[around[v].begin()->first].size() * costs[std::next(around[v].begin())->first].size() >
                most_entries)
            continue;
        gone[v] = true;
        Removed removed{v, costs[v], {}};
        for (auto& [neighbour, matrix] : around[v]) {
            around[neighbour].erase(v);
            removed.edges.emplace_back(neighbour, std::move(matrix));
            open.push_back(neighbour);
        }
        around[v].clear();
        const std::vector<double>& own = removed.costs;
        if (removed.edges.empty()) {
            constant_ += *std::min_element(own.begin(), own.end());
        } else if (removed.edges.size() == 1) {
            const auto& [neighbour, matrix] = removed.edges[0];
            for (std::size_t r = 0; r < matrix.rows(); ++r) {
                double least = infinite;
                for (std::size_t s = 0; s < own.size(); ++s) least = std::min(least, own[s] + matrix(r, s));
                costs[neighbour][r] += least;
            }
        } else {
            const auto& [a, to_a] = removed.edges[0];
            const auto& [b, to_b] = removed.edges[1];
            Matrix joint(to_a.rows(), to_b.rows());
            std::vector<double> sum(own.size());
            for (std::size_t r = 0; r < joint.rows(); ++r) {
                for (std::size_t s = 0; s < own.size(); ++s) sum[s] = own[s] + to_a(r, s);
                const double* columns = to_b.data();
                rows::least_sums(sum.data(), {&columns, 1}, joint.columns(), own.size(), &joint(r, 0));
            }
            const auto add = [&](Variable to, Variable from, const Matrix& matrix) {
                const auto [at, fresh] = around[to].try_emplace(from, matrix);
                if (fresh) return;
                for (std::size_t r = 0; r < matrix.rows(); ++r)
                    for (std::size_t c = 0; c < matrix.columns(); ++c) at->second(r, c) += matrix(r, c);
            };
            add(b, a, joint);
            add(a, b, joint.transposed());
        }
        removed_.push_back(std::move(removed));
    }
    std::vector<Variable> number(size_, 0);
    for (Variable v = 0; v < size_; ++v)
        if (!gone[v]) {
            number[v] = core_.add_variable(costs[v]);
            kept_.push_back(v);
        }
    for (const Variable v : kept_)
        for (const auto& [neighbour, matrix] : around[v])
            if (neighbour < v) core_.add_cost(number[neighbour], number[v], matrix);
}

std::vector<State> Core::expand(std::span<const State> core_states) const {
    std::vector<State> states(size_, 0);
    for (std::size_t i = 0; i < kept_.size(); ++i) states[kept_[i]] = core_states[i];
    for (auto removed = removed_.rbegin(); removed != removed_.rend(); ++removed) {
        std::vector<double> sum = removed->costs;
        for (const auto& [neighbour, matrix] : removed->edges)
            for (std::size_t s = 0; s < sum.size(); ++s) sum[s] += matrix(states[neighbour], s);
        states[removed->variable] =
            static_cast<State>(std::min_element(sum.begin(), sum.end()) - sum.begin());
    }
    return states;
}

}  // namespace viridian::search
