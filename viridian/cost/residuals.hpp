#pragma once
// Summarises how well plans were predicted, from the residuals that the cost database keeps.
#include <span>

#include "viridian/cost/database.hpp"

namespace viridian::cost {

// A ResidualSummary says how far expectations lay from the runs. Errors are shares of the run: |expected /
// ran
// - 1|.
struct ResidualSummary {
    std::size_t plans = 0;
    std::size_t within = 0;  // plans whose predicted time was at most 10 % off
    double predicted = 0;    // median error of predictions, made before the plan first ran
    double worst = 0;        // largest error of a prediction
    double kernels = 0;      // median error of the sums of kernels that were timed beside the runs
};

// Returns the summary; all members are 0 if there are no residuals.
[[nodiscard]] ResidualSummary summarize(std::span<const Residual> residuals);

// Returns by how much longer a plan on `threads` threads takes than the sum of its stored prices, as earlier
// runs say: a kernel that is timed over and over finds its code and its data nearer than in a network. It is
// the median over models of the last run of each on so many threads, between 1 / `most_correction` and
// `most_correction`; 1 for fewer than `least_models` models.
[[nodiscard]] double correction_of(std::span<const Residual> residuals, int threads);
constexpr double most_correction = 1.5;
constexpr std::size_t least_models = 3;

}  // namespace viridian::cost
