#pragma once
// Bounded bounds the least value of an assignment problem (problem.hpp) from below, and shrinks the problem
// by removing states that no better assignment can use. The bound comes from edge-wise reparametrisation,
// which moves costs between a variable and its edges and changes no assignment's value: the sum of all minima
// then is a lower bound at any time (sequential tree-reweighted message passing, TRW-S: Kolmogorov, PAMI
// 2006; in the form of "A new look at reweighted message passing", PAMI 2015). Variables are never removed.
// Once states are, the others have new numbers, those of remaining(), which all members use.
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

class Bounded {
  public:
    explicit Bounded(const Problem& problem);

    // Returns false once no assignment is left that is finite and below the limit of tighten().
    [[nodiscard]] bool feasible() const { return feasible_; }
    // Returns a lower bound of the assignments that are left; infinity if there is none.
    [[nodiscard]] double bound() const { return feasible_ ? constant_ : infinite; }

    // Moves costs forth and back up to `passes` times, and stops once a time raises the bound by at most
    // `gain` times the bound's magnitude. After each time, removes the states whose own bound reaches
    // `limit`.
    void tighten(std::size_t passes, double gain, double limit);
    // Removes states for which another state of the variable is never worse (dominance, or "dead-end
    // elimination").
    void remove_dominated();
    // fix() removes all other states of the variable; exclude() removes this state.
    void fix(Variable variable, State state);
    void exclude(Variable variable, State state);

    // Returns the problem that is left, with the costs as they were moved. The value of its assignments
    // lacks constant().
    [[nodiscard]] Problem remaining() const;
    [[nodiscard]] double constant() const { return constant_; }
    // Returns states of the problem this was made from, given those of remaining().
    [[nodiscard]] std::vector<State> original(std::span<const State> states) const;

    [[nodiscard]] std::size_t size() const { return costs_.size(); }
    [[nodiscard]] std::size_t states(Variable v) const { return costs_[v].size(); }
    // Returns a good assignment, in states of remaining(). It is chosen variable by variable, each given
    // those before it.
    [[nodiscard]] std::vector<State> guess() const;
    // Returns where to branch: an undecided variable with many edges whose two best states differ much, and
    // its best state. Some variable must have two or more states.
    [[nodiscard]] std::pair<Variable, State> branch() const;
    // Returns about how much memory the object takes, in bytes.
    [[nodiscard]] std::size_t bytes() const;

  private:
    struct Edge {
        Variable a = 0, b = 0;
        Matrix cost;
    };
    // Moves costs along all edges, in the order of the variables or, without `forth`, against it.
    void pass(bool forth);
    // Moves the least cost of every variable and edge into the constant.
    void collect_minima();
    // Returns the cost of each state with the least costs of its edges, by variable and state.
    [[nodiscard]] std::vector<std::vector<double>> marginals() const;
    // Removes the states that `dead` marks, then all that lost their last partner on some edge.
    void remove(std::vector<std::vector<bool>> dead);
    // Shrinks the tables to the states that `dead` does not mark.
    void compact(const std::vector<std::vector<bool>>& dead);

    double constant_ = 0;
    bool feasible_ = true;
    std::vector<std::vector<double>> costs_;
    std::vector<std::vector<State>> original_;
    std::vector<Edge> edges_;
    std::vector<std::vector<std::uint32_t>> edges_of_;
};

}  // namespace viridian::search
