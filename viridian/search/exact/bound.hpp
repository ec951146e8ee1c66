#pragma once
// Bounded shrinks an assignment problem (problem.hpp) and bounds its least value from below, in two ways.
// Edge-wise reparametrisation moves costs between a variable and its edges, which changes no assignment's
// value: the sum of all minima then is a lower bound at any time (sequential tree-reweighted message
// passing, TRW-S: Kolmogorov, PAMI 2006; in the form of "A new look at reweighted message passing", PAMI
// 2015). States that no better assignment can use are taken out.
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

class Bounded {
  public:
    explicit Bounded(const Problem& problem);

    // False once no finite assignment is left.
    [[nodiscard]] bool feasible() const { return feasible_; }
    [[nodiscard]] double bound() const { return feasible_ ? constant_ : infinite; }

    // Passes forth and back until the bound gains less than `gain` (relative) or `passes` are done; after
    // each, takes out states whose own bound reaches `limit`.
    void tighten(std::size_t passes, double gain, double limit);
    // Takes out states for which another is never worse (dominance, or "dead-end elimination").
    void remove_dominated();
    // fix() leaves one state of the variable, exclude() all others.
    void fix(Variable variable, State state);
    void exclude(Variable variable, State state);

    // The problem that is left, with the costs as they were moved; its values lack constant().
    [[nodiscard]] Problem remaining() const;
    [[nodiscard]] double constant() const { return constant_; }
    // Returns states of the problem this was made from, given those of remaining().
    [[nodiscard]] std::vector<State> original(std::span<const State> states) const;

    [[nodiscard]] std::size_t size() const { return costs_.size(); }
    [[nodiscard]] std::size_t states(Variable v) const { return costs_[v].size(); }
    // Guesses a good assignment, in states of remaining(): variable by variable, each given those before it.
    [[nodiscard]] std::vector<State> guess() const;
    // Returns where to branch: an undecided variable whose best states differ most, and its best state.
    [[nodiscard]] std::pair<Variable, State> branch() const;
    [[nodiscard]] std::size_t bytes() const;

  private:
    struct Edge {
        Variable a = 0, b = 0;
        Matrix cost;
    };
    void pass(bool forth);
    void collect_minima();
    [[nodiscard]] std::vector<std::vector<double>> marginals() const;
    // Takes out states by flag, then all that lost their last partner on some edge.
    void remove(std::vector<std::vector<bool>> dead);
    void compact(const std::vector<std::vector<bool>>& dead);

    double constant_ = 0;
    bool feasible_ = true;
    std::vector<std::vector<double>> costs_;
    std::vector<std::vector<State>> original_;
    std::vector<Edge> edges_;
    std::vector<std::vector<std::uint32_t>> edges_of_;
};

}  // namespace viridian::search
