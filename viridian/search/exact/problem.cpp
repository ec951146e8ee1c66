#include "viridian/search/exact/problem.hpp"

#include "viridian/base/result.hpp"

namespace viridian::search {

Matrix Matrix::transposed() const {
    Matrix out(columns_, rows_);
    for (std::size_t r = 0; r < rows_; ++r)
        for (std::size_t c = 0; c < columns_; ++c) out(c, r) = (*this)(r, c);
    return out;
}

Variable Problem::add_variable(std::vector<double> costs) {
    costs_.push_back(std::move(costs));
    return static_cast<Variable>(costs_.size() - 1);
}

void Problem::add_cost(Variable a, Variable b, const Matrix& cost) {
    invariant(a != b && cost.rows() == states(a) && cost.columns() == states(b),
              "a matrix has a row per state of one variable and a column per state of another");
    if (a > b) return add_cost(b, a, cost.transposed());
    const auto [at, fresh] = edge_of_.try_emplace({a, b}, edges_.size());
    if (fresh) {
        edges_.push_back({a, b, cost});
        return;
    }
    Matrix& sum = edges_[at->second].cost;
    for (std::size_t r = 0; r < cost.rows(); ++r)
        for (std::size_t c = 0; c < cost.columns(); ++c) sum(r, c) += cost(r, c);
}

double value(const Problem& problem, std::span<const State> states) {
    double sum = 0;
    for (Variable v = 0; v < problem.size(); ++v) sum += problem.costs(v)[states[v]];
    for (const Problem::Edge& edge : problem.edges()) sum += edge.cost(states[edge.a], states[edge.b]);
    return sum;
}

}  // namespace viridian::search
