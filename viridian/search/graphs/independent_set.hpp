#pragma once
// Chooses which of several gains to take if some exclude each other: the set of greatest sum without two that
// clash (a maximum-weight independent set). It is exact in every group of clashing gains that is small enough
// to be searched through; in others it starts from a greedy set improved by exchanges, and ends with the best
// set found within a limited number of steps.
#include <cstdint>
#include <vector>

namespace viridian::search {

// Returns the positions of the gains taken, ascending. `gains` are above zero, in falling order;
// clash[a][b] is symmetric, and true if a and b exclude each other. The result is deterministic.
[[nodiscard]] std::vector<std::size_t> independent_set(const std::vector<double>& gains,
                                                       const std::vector<std::vector<bool>>& clash);

}  // namespace viridian::search
