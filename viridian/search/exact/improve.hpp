#pragma once
// Local search on an assignment: better states one by one, then whole neighbourhoods, freed and solved
// exactly.
#include "viridian/base/random.hpp"
#include "viridian/search/problem.hpp"

namespace viridian::search {

class Improver {
  public:
    explicit Improver(const Problem& problem);

    // Changes single variables until none helps. Works from infinite values too. Returns the value.
    double descend(std::vector<State>& states) const;
    // Frees the variables around a random one and solves for them, `rounds` times; as many as can be solved
    // quickly, which is found out on the way. `states` is finite.
    double search(std::vector<State>& states, Random& random, std::size_t rounds);

  private:
    [[nodiscard]] Problem subproblem(const std::vector<State>& states, std::span<const Variable> free) const;

    const Problem* problem_;
    double freed_ = 20;
    std::vector<std::vector<std::uint32_t>> edges_of_;
};

}  // namespace viridian::search
