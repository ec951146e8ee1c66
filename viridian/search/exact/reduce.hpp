#pragma once
// A Core is what the exact PBQP reductions leave of a problem (Scholz and Eckstein 2002). R0 removes a
// variable without an edge, RI one with a single edge, and RII one with two neighbours, which get a matrix
// between them. Every variable of the core has at least three neighbours, except those that `most_entries`
// keeps.
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

class Core {
  public:
    // Reduces `problem`. A variable with two neighbours stays if the matrix between these would have more
    // than `most_entries` entries.
    explicit Core(const Problem& problem, std::size_t most_entries = 1U << 16U);

    [[nodiscard]] const Problem& problem() const { return core_; }
    // Returns the least cost of the parts that were removed whole. It is added to the value of the core.
    [[nodiscard]] double constant() const { return constant_; }
    // Returns the best states of the whole problem that have the states `core_states` in the core.
    [[nodiscard]] std::vector<State> expand(std::span<const State> core_states) const;

  private:
    // A Removed is a variable that was removed, with its costs and edges at that time.
    struct Removed {
        Variable variable = 0;
        std::vector<double> costs;
        std::vector<std::pair<Variable, Matrix>> edges;  // rows: states of the neighbour
    };
    Problem core_;
    double constant_ = 0;
    std::vector<Removed> removed_;
    std::vector<Variable> kept_;  // of the whole problem, by variable of the core
    std::size_t size_ = 0;
};

}  // namespace viridian::search
