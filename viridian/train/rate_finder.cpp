#include "viridian/train/rate_finder.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace viridian::train {
namespace {

constexpr double average_decay = 0.9;
constexpr double divergence = 4;
constexpr std::size_t fewest_trials = 10;
constexpr double sure = 4;         // standard errors
constexpr double rounding = 1e-9;  // of a loss

// A line through the losses around a trial, over the natural logarithm of the rate.
struct LocalLine {
    double value = 0;  // at the trial
    double slope = 0;
    double slope_error = 0;  // its standard error, from the noise of single losses
};

LocalLine line_at(std::span<const RateTrial> trials, std::size_t at, std::size_t reach, double noise) {
    const std::size_t first = at - std::min(at, reach), last = std::min(at + reach, trials.size() - 1);
    const auto count = static_cast<double>(last - first + 1);
    double x = 0, y = 0, xx = 0, xy = 0;
    for (std::size_t i = first; i <= last; ++i) {
        const double here = std::log(trials[i].rate / trials[at].rate);
        x += here / count;
        y += trials[i].loss / count;
    }
    for (std::size_t i = first; i <= last; ++i) {
        const double apart = std::log(trials[i].rate / trials[at].rate) - x;
        xx += apart * apart;
        xy += apart * (trials[i].loss - y);
    }
    const double slope = xx > 0 ? xy / xx : 0;
    return {y - slope * x, slope, xx > 0 ? noise / std::sqrt(xx) : INFINITY};
}

// The standard deviation of single losses, by the median difference of neighbours: 1.48 median absolute
// deviations are one standard deviation of a normal distribution, and a difference has the noise of two.
double noise_of(std::span<const RateTrial> trials) {
    std::vector<double> differences;
    for (std::size_t i = 1; i < trials.size(); ++i)
        differences.push_back(std::abs(trials[i].loss - trials[i - 1].loss));
    const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
    std::ranges::nth_element(differences, middle);
    return 1.4826 * *middle / std::numbers::sqrt2;
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
    const std::span<const RateTrial> used = trials.first(count);
    const double noise = noise_of(used);
    const std::size_t reach = std::max<std::size_t>(3, count / 12);
    std::vector<LocalLine> lines;
    for (std::size_t i = 0; i < count; ++i) lines.push_back(line_at(used, i, reach, noise));
    const auto least =
        static_cast<std::size_t>(std::ranges::min_element(lines, {}, &LocalLine::value) - lines.begin());
    std::size_t steepest = 0;
    double slope = -rounding * std::abs(lines[least].value);
    for (std::size_t i = 1; i < least; ++i) {
        const double at_most = lines[i].slope + sure * lines[i].slope_error;
        if (at_most < slope) {
            slope = at_most;
            steepest = i;
        }
    }
    if (steepest == 0)
        return fail(ErrorCode::invalid_argument,
                    "take more steps, as in --rate-steps 400, or test other rates",
                    "at no rate from {:.2g} to {:.2g} the loss falls by more than its noise",
                    trials.front().rate, trials[count - 1].rate);
    return RateFinding{trials[steepest].rate, trials[least].rate, count < trials.size()};
}

}  // namespace viridian::train
