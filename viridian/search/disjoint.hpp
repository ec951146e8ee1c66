#pragma once
// Which of many gains to take where some exclude each other: the set of greatest sum without two that clash
// (a maximum-weight independent set). Exact in every group of clashing ones that is small enough to be
// searched through; otherwise greedy, improved by exchanges.
#include <cstdint>
#include <vector>

namespace viridian::search {

// `gains` above zero, in falling order; `clash[a][b]` symmetric. Ascending positions of those taken.
// Deterministic.
[[nodiscard]] std::vector<std::size_t> best_together(const std::vector<double>& gains,
                                                     const std::vector<std::vector<bool>>& clash);

}  // namespace viridian::search
