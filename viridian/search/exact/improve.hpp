#pragma once
// Improves an assignment by local search: single states first, then whole neighbourhoods, which are freed and
// solved exactly.
#include "viridian/base/random.hpp"
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

class Improver {
  public:
    explicit Improver(const Problem& problem);

    // Changes single variables until none helps, and returns the value. It may start from an infinite one.
    double descend(std::vector<State>& states) const;
    // Frees the variables around a random one and solves for them, `rounds` times; how many can be solved
    // quickly is learnt on the way. `states` must have a finite value. Returns the value reached.
    double search(std::vector<State>& states, Random& random, std::size_t rounds);

  private:
    [[nodiscard]] Problem subproblem(const std::vector<State>& states, std::span<const Variable> free) const;

    const Problem* problem_;
    double freed_ = 20;
    std::vector<std::vector<std::uint32_t>> edges_of_;
};

}  // namespace viridian::search
