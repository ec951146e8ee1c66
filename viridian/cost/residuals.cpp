#include "viridian/cost/residuals.hpp"

#include <algorithm>
#include <cmath>
#include <map>

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

double correction_of(std::span<const Residual> residuals, int threads) {
    std::map<std::string_view, double> last;  // by model
    for (const Residual& residual : residuals) {
        if (residual.threads != threads) continue;
        const double sum = residual.predicted.value / residual.correction;
        const double longer = residual.ran.value / sum;
        if (sum > 0 && longer > 0 && std::isfinite(longer)) last[residual.model] = longer;
    }
    if (last.size() < least_models) return 1;
    std::vector<double> all;
    for (const auto& [model, longer] : last) all.push_back(longer);
    return std::clamp(viridian::summarize(std::move(all)).median, 1 / most_correction, most_correction);
}

}  // namespace viridian::cost
