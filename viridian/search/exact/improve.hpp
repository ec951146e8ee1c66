#pragma once
// An Improver improves an assignment of a problem by local search. It first changes single variables, then
// frees whole neighbourhoods and solves them exactly while all other variables keep their states.
#include "viridian/base/random.hpp"
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

class Improver {
  public:
    explicit Improver(const Problem& problem);

    // Changes one variable of `states` at a time until no change helps, and returns the value reached. If
    // the value is infinite at first, a change helps if it reduces the number of infinite costs.
    double descend(std::vector<State>& states) const;
    // Improves `states`, whose value must be finite, in `rounds` rounds, and returns the value reached.
    // Each round frees a random variable and some of those around it, and solves for them by elimination.
    // If that would take too much work, the next round frees fewer variables, otherwise more.
    double search(std::vector<State>& states, Random& random, std::size_t rounds);

  private:
    // Returns the problem of the variables `free`, in that order. All others keep their `states`.
    [[nodiscard]] Problem subproblem(const std::vector<State>& states, std::span<const Variable> free) const;

    const Problem* problem_;
    double freed_ = 20;  // how many variables the next round frees
    std::vector<std::vector<std::uint32_t>> edges_of_;
};

}  // namespace viridian::search
