#pragma once
// Applies the PBQP reductions that are exact and make no larger edge: R0 (a variable without an edge), RI
// (one edge), RII (two neighbours, which get a matrix between them). The core that is left has at least three
// neighbours everywhere (Scholz and Eckstein 2002).
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

class Core {
  public:
    // A variable stays if its reduction would make a matrix of more than `most_entries`.
    explicit Core(const Problem& problem, std::size_t most_entries = 1U << 16U);

    [[nodiscard]] const Problem& problem() const { return core_; }
    [[nodiscard]] double constant() const { return constant_; }
    // Returns the states of the whole problem from those of the core.
    [[nodiscard]] std::vector<State> expand(std::span<const State> core_states) const;

  private:
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
