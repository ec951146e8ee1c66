#include "viridian/cost/residuals.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/base/statistics.hpp"

namespace viridian::cost {
namespace {

constexpr double good = 0.1;

double error(Seconds expected, Seconds ran) { return std::abs(expected / ran - 1); }

}  // namespace

ResidualSummary summarize(std::span<const Residual> residuals) {
    ResidualSummary summary;
    std::vector<double> predicted, kernels;
    for (const Residual& residual : residuals) {
        if (!(residual.ran.value > 0)) continue;
        predicted.push_back(error(residual.predicted, residual.ran));
        kernels.push_back(error(residual.kernels, residual.ran));
        summary.within += predicted.back() <= good ? 1 : 0;
        summary.worst = std::max(summary.worst, predicted.back());
    }
    summary.plans = predicted.size();
    summary.predicted = viridian::summarize(std::move(predicted)).median;
    summary.kernels = viridian::summarize(std::move(kernels)).median;
    return summary;
}

}  // namespace viridian::cost
