#pragma once
// Defines the abstract assignment problem (docs/method.md, 3): every variable takes one of its states, at a
// cost; every edge adds the cost of the two states at its ends. This is a partitioned boolean quadratic
// problem (PBQP). Costs may be negative, and infinite if something is forbidden. It knows nothing of graphs,
// regions or joules.
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

namespace viridian::search {

using Variable = std::uint32_t;
using State = std::uint32_t;

inline constexpr double infinite = std::numeric_limits<double>::infinity();

// A Matrix holds costs, row by row.
class Matrix {
  public:
    Matrix() = default;
    Matrix(std::size_t rows, std::size_t columns, double fill = 0)
        : rows_(rows), columns_(columns), entries_(rows * columns, fill) {}

    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] double& operator()(std::size_t row, std::size_t column) {
        return entries_[row * columns_ + column];
    }
    [[nodiscard]] double operator()(std::size_t row, std::size_t column) const {
        return entries_[row * columns_ + column];
    }
    [[nodiscard]] std::span<const double> row(std::size_t r) const {
        return std::span(entries_).subspan(r * columns_, columns_);
    }
    [[nodiscard]] double* data() { return entries_.data(); }
    [[nodiscard]] const double* data() const { return entries_.data(); }
    [[nodiscard]] Matrix transposed() const;

  private:
    std::size_t rows_ = 0;
    std::size_t columns_ = 0;
    std::vector<double> entries_;
};

// A Problem is a list of variables, with a cost for each of their states, and of edges between them.
class Problem {
  public:
    struct Edge {
        Variable a = 0, b = 0;  // a < b
        Matrix cost;            // rows: states of a
    };

    // Adds a variable with one state for each of `costs`, and returns its number.
    Variable add_variable(std::vector<double> costs);
    void add_cost(Variable variable, State state, double cost) { costs_[variable][state] += cost; }
    // Adds `cost`, whose rows are the states of `a` and whose columns are those of `b`, to the edge between
    // the two. Makes the edge if there is none.
    void add_cost(Variable a, Variable b, const Matrix& cost);

    [[nodiscard]] std::size_t size() const { return costs_.size(); }
    [[nodiscard]] std::size_t states(Variable variable) const { return costs_[variable].size(); }
    [[nodiscard]] const std::vector<double>& costs(Variable variable) const { return costs_[variable]; }
    [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }

  private:
    std::vector<std::vector<double>> costs_;
    std::vector<Edge> edges_;
    std::map<std::pair<Variable, Variable>, std::size_t> edge_of_;
};

// Returns the sum of all costs if every variable has its entry of `states`.
[[nodiscard]] double value(const Problem& problem, std::span<const State> states);

// A Solution is an assignment of a problem, with its value.
struct Solution {
    std::vector<State> states;  // one per variable; empty if nothing finite was found
    double value = infinite;
    double bound = -infinite;  // proven: no assignment is below it
    [[nodiscard]] bool proven() const { return bound >= value; }
};

}  // namespace viridian::search
