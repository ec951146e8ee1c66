#include "viridian/train/rate_finder.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace viridian::train {
namespace {

constexpr double average_decay = 0.9;
constexpr double divergence = 4;
constexpr std::size_t fewest_trials = 10;

// The exponential average of the values before and at each place, without the bias towards 0 of its first
// places (Kingma and Ba, "Adam", 2015, section 3).
std::vector<double> averaged(std::span<const double> values) {
    std::vector<double> averages;
    double sum = 0, weight = 0;
    for (const double value : values) {
        sum = average_decay * sum + (1 - average_decay) * value;
        weight = average_decay * weight + (1 - average_decay);
        averages.push_back(sum / weight);
    }
    return averages;
}

// Averages in both directions, so that a step stays where it is.
std::vector<double> smoothed(std::vector<double> values) {
    const std::vector<double> forwards = averaged(values);
    std::ranges::reverse(values);
    std::vector<double> both = averaged(values);
    std::ranges::reverse(both);
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = (both[i] + forwards[i]) / 2;
    return both;
}

// Returns how many trials come before the divergence.
std::size_t usable(std::span<const RateTrial> trials) {
    double sum = 0, weight = 0, least = INFINITY;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        sum = average_decay * sum + (1 - average_decay) * trials[i].loss;
        weight = average_decay * weight + (1 - average_decay);
        const double average = sum / weight;
        if (!std::isfinite(average) || average > divergence * least) return i;
        least = std::min(least, average);
    }
    return trials.size();
}

}  // namespace

double trial_rate(const RateRange& range, std::int64_t i) {
    const double part =
        static_cast<double>(i) / static_cast<double>(std::max<std::int64_t>(1, range.steps - 1));
    return range.lowest * std::pow(range.highest / range.lowest, part);
}

bool has_diverged(std::span<const RateTrial> trials) { return usable(trials) < trials.size(); }

Result<RateFinding> find_rate(std::span<const RateTrial> trials) {
    const std::size_t count = usable(trials);
    if (count < fewest_trials)
        return fail(ErrorCode::invalid_argument, "begin with a lower rate, or take more steps",
                    "only {} of {} losses came before the divergence; a rate can be found from {}", count,
                    trials.size(), fewest_trials);
    std::vector<double> losses;
    for (const RateTrial& trial : trials.first(count)) losses.push_back(trial.loss);
    losses = smoothed(std::move(losses));
    const auto least = static_cast<std::size_t>(std::ranges::min_element(losses) - losses.begin());
    std::size_t steepest = 0;
    double slope = 0;
    for (std::size_t i = 1; i < least; ++i) {  // slopes per natural logarithm of the rate
        const double here =
            (losses[i + 1] - losses[i - 1]) / (std::log(trials[i + 1].rate) - std::log(trials[i - 1].rate));
        if (here < slope) {
            slope = here;
            steepest = i;
        }
    }
    if (slope >= 0)
        return fail(ErrorCode::invalid_argument, "test other rates, or check the loss and the data",
                    "the loss falls at no rate from {:.2g} to {:.2g}", trials.front().rate,
                    trials[count - 1].rate);
    return RateFinding{trials[steepest].rate, trials[least].rate, count < trials.size()};
}

}  // namespace viridian::train
