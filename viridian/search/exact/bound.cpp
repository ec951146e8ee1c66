#include "viridian/search/exact/bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "viridian/search/exact/rows.hpp"

namespace viridian::search {
namespace {

// Least entry of every row, or of every column.
void row_minima(const Matrix& m, std::vector<double>& out) {
    out.resize(m.rows());
    rows::row_minima(m.data(), m.rows(), m.columns(), out.data());
}

void column_minima(const Matrix& m, std::vector<double>& out) {
    out.resize(m.columns());
    rows::column_minima(m.data(), m.rows(), m.columns(), out.data());
}

void add_to_rows(Matrix& m, const std::vector<double>& amounts, double factor) {
    rows::add_to_rows(m.data(), m.rows(), m.columns(), amounts.data(), factor);
}

void add_to_columns(Matrix& m, const std::vector<double>& amounts, double factor) {
    rows::add_to_columns(m.data(), m.rows(), m.columns(), amounts.data(), factor);
}

}  // namespace

Bounded::Bounded(const Problem& problem) : edges_of_(problem.size()) {
    for (Variable v = 0; v < problem.size(); ++v) {
        costs_.push_back(problem.costs(v));
        original_.emplace_back(problem.states(v));
        std::iota(original_[v].begin(), original_[v].end(), State{0});
    }
    for (const Problem::Edge& edge : problem.edges()) {
        edges_of_[edge.a].push_back(static_cast<std::uint32_t>(edges_.size()));
        edges_of_[edge.b].push_back(static_cast<std::uint32_t>(edges_.size()));
        edges_.push_back({edge.a, edge.b, edge.cost});
    }
    std::vector<std::vector<bool>> dead;
    for (const auto& costs : costs_) dead.emplace_back(costs.size(), false);
    remove(std::move(dead));
    if (feasible_) collect_minima();
}

void Bounded::collect_minima() {
    for (auto& costs : costs_) {
        const double least = *std::min_element(costs.begin(), costs.end());
        for (double& cost : costs) cost -= least;
        constant_ += least;
    }
    std::vector<double> minima;
    for (Edge& edge : edges_) {
        row_minima(edge.cost, minima);
        const double least = *std::min_element(minima.begin(), minima.end());
        if (least == 0) continue;
        minima.assign(minima.size(), least);
        add_to_rows(edge.cost, minima, -1);
        constant_ += least;
    }
}

void Bounded::pass(bool forth) {
    std::vector<double> minima;
    for (std::size_t i = 0; i < size(); ++i) {
        const auto v = static_cast<Variable>(forth ? i : size() - 1 - i);
        std::vector<double>& costs = costs_[v];
        std::size_t ahead = 0;
        for (const std::uint32_t e : edges_of_[v]) {
            Edge& edge = edges_[e];
            const bool first = edge.a == v;
            if ((first ? edge.b > v : edge.a > v) == forth) {
                ++ahead;
                continue;
            }
            first ? row_minima(edge.cost, minima) : column_minima(edge.cost, minima);
            for (std::size_t s = 0; s < costs.size(); ++s) costs[s] += minima[s];
            first ? add_to_rows(edge.cost, minima, -1) : add_to_columns(edge.cost, minima, -1);
        }
        if (ahead == 0) continue;
        const double share = 1.0 / static_cast<double>(std::max(ahead, edges_of_[v].size() - ahead));
        for (const std::uint32_t e : edges_of_[v]) {
            Edge& edge = edges_[e];
            const bool first = edge.a == v;
            if ((first ? edge.b > v : edge.a > v) != forth) continue;
            first ? add_to_rows(edge.cost, costs, share) : add_to_columns(edge.cost, costs, share);
        }
        const double kept = 1 - share * static_cast<double>(ahead);
        for (double& cost : costs) cost = kept <= 1e-15 ? 0 : cost * kept;
    }
}

std::vector<std::vector<double>> Bounded::marginals() const {
    std::vector<std::vector<double>> out = costs_;
    std::vector<double> rows, columns;
    for (const Edge& edge : edges_) {
        row_minima(edge.cost, rows);
        column_minima(edge.cost, columns);
        for (std::size_t s = 0; s < rows.size(); ++s) out[edge.a][s] += rows[s];
        for (std::size_t s = 0; s < columns.size(); ++s) out[edge.b][s] += columns[s];
    }
    return out;
}

void Bounded::tighten(std::size_t passes, double gain, double limit) {
    for (std::size_t p = 0; p < passes && feasible_; ++p) {
        const double before = constant_;
        pass(true);
        pass(false);
        collect_minima();
        if (limit < infinite) {
            if (constant_ >= limit) {
                feasible_ = false;
                return;
            }
            const auto through = marginals();
            std::vector<std::vector<bool>> dead;
            bool any = false;
            for (Variable v = 0; v < size(); ++v) {
                dead.emplace_back(states(v), false);
                for (State s = 0; s < states(v); ++s)
                    if (constant_ + through[v][s] >= limit) dead[v][s] = any = true;
            }
            if (any) {
                remove(std::move(dead));
                if (feasible_) collect_minima();
            }
        }
        if (constant_ - before <= gain * std::abs(constant_)) return;
    }
}

void Bounded::remove_dominated() {
    if (!feasible_) return;
    std::vector<std::vector<bool>> dead;
    bool any = false;
    for (const auto& costs : costs_) dead.emplace_back(costs.size(), false);
    for (Variable v = 0; v < size(); ++v) {
        // `worse` goes if, whatever the neighbours do, `better` costs no more. Neighbours' dead states still
        // count: that is cautious.
        for (State worse = 0; worse < states(v); ++worse)
            for (State better = 0; better < states(v) && !dead[v][worse]; ++better) {
                if (better == worse || dead[v][better]) continue;
                double excess = costs_[v][better] - costs_[v][worse];
                for (const std::uint32_t e : edges_of_[v]) {
                    const Edge& edge = edges_[e];
                    const bool first = edge.a == v;
                    const std::size_t count = first ? edge.cost.columns() : edge.cost.rows();
                    double most = -infinite;
                    for (std::size_t other = 0; other < count; ++other) {
                        const double with_better =
                            first ? edge.cost(better, other) : edge.cost(other, better);
                        const double with_worse = first ? edge.cost(worse, other) : edge.cost(other, worse);
                        if (with_worse == infinite) continue;
                        most = std::max(most, with_better - with_worse);
                        if (most == infinite) break;
                    }
                    excess += most;
                    if (excess == infinite) break;
                }
                if (excess <= 0) dead[v][worse] = any = true;
            }
    }
    if (!any) return;
    remove(std::move(dead));
    if (feasible_) collect_minima();
}

void Bounded::remove(std::vector<std::vector<bool>> dead) {
    std::vector<Variable> open;
    std::vector<bool> waiting(size(), true);
    for (Variable v = 0; v < size(); ++v) {
        open.push_back(v);
        for (State s = 0; s < states(v); ++s)
            if (costs_[v][s] == infinite) dead[v][s] = true;
    }
    // Arc consistency: a state needs a living partner on every edge.
    while (!open.empty()) {
        const Variable v = open.back();
        open.pop_back();
        waiting[v] = false;
        for (const std::uint32_t e : edges_of_[v]) {
            const Edge& edge = edges_[e];
            const bool first = edge.a == v;
            const Variable other = first ? edge.b : edge.a;
            bool lost = false;
            for (State o = 0; o < states(other); ++o) {
                if (dead[other][o]) continue;
                bool partner = false;
                for (State s = 0; s < states(v) && !partner; ++s)
                    partner = !dead[v][s] && (first ? edge.cost(s, o) : edge.cost(o, s)) < infinite;
                if (!partner) dead[other][o] = lost = true;
            }
            if (lost && !waiting[other]) {
                waiting[other] = true;
                open.push_back(other);
            }
        }
    }
    for (const auto& flags : dead)
        if (std::find(flags.begin(), flags.end(), false) == flags.end()) feasible_ = false;
    if (feasible_) compact(dead);
}

void Bounded::compact(const std::vector<std::vector<bool>>& dead) {
    const auto alive = [&](Variable v) {
        std::vector<State> list;
        for (State s = 0; s < dead[v].size(); ++s)
            if (!dead[v][s]) list.push_back(s);
        return list;
    };
    std::vector<std::vector<State>> left;
    for (Variable v = 0; v < size(); ++v) left.push_back(alive(v));
    for (Edge& edge : edges_) {
        const auto &rows = left[edge.a], &columns = left[edge.b];
        if (rows.size() == edge.cost.rows() && columns.size() == edge.cost.columns()) continue;
        Matrix smaller(rows.size(), columns.size());
        for (std::size_t r = 0; r < rows.size(); ++r)
            for (std::size_t c = 0; c < columns.size(); ++c) smaller(r, c) = edge.cost(rows[r], columns[c]);
        edge.cost = std::move(smaller);
    }
    for (Variable v = 0; v < size(); ++v) {
        if (left[v].size() == states(v)) continue;
        for (std::size_t i = 0; i < left[v].size(); ++i) {
            costs_[v][i] = costs_[v][left[v][i]];
            original_[v][i] = original_[v][left[v][i]];
        }
        costs_[v].resize(left[v].size());
        original_[v].resize(left[v].size());
    }
}

void Bounded::fix(Variable variable, State state) {
    std::vector<std::vector<bool>> dead;
    for (const auto& costs : costs_) dead.emplace_back(costs.size(), false);
    for (State s = 0; s < states(variable); ++s) dead[variable][s] = s != state;
    remove(std::move(dead));
    if (feasible_) collect_minima();
}

void Bounded::exclude(Variable variable, State state) {
    std::vector<std::vector<bool>> dead;
    for (const auto& costs : costs_) dead.emplace_back(costs.size(), false);
    dead[variable][state] = true;
    remove(std::move(dead));
    if (feasible_) collect_minima();
}

Problem Bounded::remaining() const {
    Problem out;
    for (const auto& costs : costs_) out.add_variable(costs);
    for (const Edge& edge : edges_) out.add_cost(edge.a, edge.b, edge.cost);
    return out;
}

std::vector<State> Bounded::original(std::span<const State> states) const {
    std::vector<State> out(states.size());
    for (std::size_t v = 0; v < states.size(); ++v) out[v] = original_[v][states[v]];
    return out;
}

std::vector<State> Bounded::guess() const {
    std::vector<State> out(size(), 0);
    std::vector<double> minima;
    for (Variable v = 0; v < size(); ++v) {
        std::vector<double> sum = costs_[v];
        for (const std::uint32_t e : edges_of_[v]) {
            const Edge& edge = edges_[e];
            if (edge.a == v) {
                row_minima(edge.cost, minima);
                for (State s = 0; s < sum.size(); ++s) sum[s] += minima[s];
            } else {
                for (State s = 0; s < sum.size(); ++s) sum[s] += edge.cost(out[edge.a], s);
            }
        }
        out[v] = static_cast<State>(std::min_element(sum.begin(), sum.end()) - sum.begin());
    }
    return out;
}

std::pair<Variable, State> Bounded::branch() const {
    const auto through = marginals();
    Variable best = 0;
    double most = -1;
    for (Variable v = 0; v < size(); ++v) {
        if (states(v) < 2) continue;
        std::vector<double> sorted = through[v];
        std::nth_element(sorted.begin(), sorted.begin() + 1, sorted.end());
        // A clear second-best makes the exclusion strong; many edges make the fixing strong.
        const double score = (sorted[1] - sorted[0]) + 1e-9 * static_cast<double>(edges_of_[v].size());
        const double weight = score * static_cast<double>(edges_of_[v].size());
        if (weight > most) {
            most = weight;
            best = v;
        }
    }
    const auto& row = through[best];
    return {best, static_cast<State>(std::min_element(row.begin(), row.end()) - row.begin())};
}

std::size_t Bounded::bytes() const {
    std::size_t sum = 0;
    for (const Edge& edge : edges_) sum += edge.cost.rows() * edge.cost.columns() * sizeof(double) + 64;
    for (const auto& costs : costs_) sum += costs.size() * 16 + 64;
    return sum;
}

}  // namespace viridian::search
