#pragma once
// The PBQP reductions that lose nothing and add nothing: R0 (no edge), RI (one), RII (two neighbours: a new
// matrix between them). What is left has at least three neighbours everywhere: the core. (Scholz and Eckstein
// 2002.)
#include "viridian/search/problem.hpp"

namespace viridian::search {

class Core {
  public:
    // Matrices of more than `most_entries` are not made: such variables stay.
    explicit Core(const Problem& problem, std::size_t most_entries = 1U << 16U);

    [[nodiscard]] const Problem& problem() const { return core_; }
    [[nodiscard]] double constant() const { return constant_; }
    // States of the whole problem from those of the core.
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
