#include "viridian/meter/curve/renewal.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::meter {
namespace {

constexpr std::size_t fewest = 30;    // brackets from which a beat is told
constexpr double enough = 0.97;       // of the brackets must allow the beat
constexpr double slack_share = 0.02;  // of a period, by which a stroke may miss its bracket

// Sorts `values` partly.
double quantile(std::vector<double> values, double share) {
    const auto at =
        values.begin() +
        static_cast<std::ptrdiff_t>(std::min(
            values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size()))));
    std::ranges::nth_element(values, at);
    return *at;
}

std::vector<double> differences(const std::vector<double>& times) {
    std::vector<double> list;
    for (std::size_t i = 1; i < times.size(); ++i) list.push_back(times[i] - times[i - 1]);
    return list;
}

// Times relative to the first bracket, so that doubles hold them to the nanosecond.
struct Seen {
    std::vector<double> low, high, middle;
    std::vector<bool> sharp;  // the bracket is narrow enough to lead

    explicit Seen(std::span<const Bracket> brackets) {
        for (const Bracket& bracket : brackets) {
            low.push_back(static_cast<double>(bracket.old_value - brackets[0].old_value));
            high.push_back(static_cast<double>(bracket.new_value - brackets[0].old_value));
            middle.push_back(0.5 * (low.back() + high.back()));
        }
    }
    void sharpen(double period) {
        std::vector<double> widths;
        for (std::size_t i = 0; i < low.size(); ++i) widths.push_back(high[i] - low[i]);
        const double widest = std::max(0.4 * period, 1.5 * quantile(widths, 0.5));
        for (const double width : widths) sharp.push_back(width <= widest);
    }
};

// How many periods after the first change each of the others came; sharp brackets lead.
std::vector<double> counts_of(const Seen& seen, double period) {
    std::vector<double> counts = {0};
    double anchor = seen.middle[0], count = 0;
    for (std::size_t i = 1; i < seen.middle.size(); ++i) {
        const double steps = std::max(1.0, std::round((seen.middle[i] - anchor) / period));
        counts.push_back(count + steps);
        if (!seen.sharp[i]) continue;
        const double expected = anchor + steps * period;
        count = counts.back();
        anchor = expected + 0.3 * (seen.middle[i] - expected);
    }
    return counts;
}

// The slope of least squares of the middles of sharp brackets over their counts.
std::optional<double> slope(const Seen& seen, const std::vector<double>& counts) {
    double n = 0, mean_count = 0, mean_time = 0, spread = 0, product = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
        if (seen.sharp[i]) ++n, mean_count += counts[i], mean_time += seen.middle[i];
    if (n < 10) return std::nullopt;
    mean_count /= n, mean_time /= n;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (!seen.sharp[i]) continue;
        spread += (counts[i] - mean_count) * (counts[i] - mean_count);
        product += (counts[i] - mean_count) * (seen.middle[i] - mean_time);
    }
    if (spread <= 0) return std::nullopt;
    return product / spread;
}

// The strokes of a beat, or nothing if too few brackets allow one.
std::optional<std::pair<std::vector<double>, double>> strokes(Seen& seen) {
    const double first_guess = quantile(differences(seen.middle), 0.5);
    if (first_guess <= 0) return std::nullopt;
    seen.sharpen(first_guess);
    double period = first_guess;
    std::vector<double> counts;
    for (int round = 0; round < 3; ++round) {
        counts = counts_of(seen, period);
        const std::optional<double> found = slope(seen, counts);
        if (!found || !(*found > 0.5 * period && *found < 2 * period)) return std::nullopt;
        period = *found;
    }
    // The phase that all brackets allow is sharper than the mean of their middles.
    std::vector<double> least, most;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (!seen.sharp[i]) continue;
        least.push_back(seen.low[i] - period * counts[i]);
        most.push_back(seen.high[i] - period * counts[i]);
    }
    const double phase = 0.5 * (quantile(least, 0.98) + quantile(most, 0.02)), slack = slack_share * period;
    std::vector<double> times;
    std::size_t allowed = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const double low = seen.low[i], high = seen.high[i];
        const double at = phase + period * std::floor((high + slack - phase) / period);
        const bool fits = low - slack <= at;
        allowed += fits ? 1 : 0;
        times.push_back(fits ? std::clamp(at, low, high) : seen.middle[i]);
    }
    if (static_cast<double>(allowed) < enough * static_cast<double>(times.size())) return std::nullopt;
    return std::pair(std::move(times), period);
}

}  // namespace

RenewalTimes renewal_times(std::span<const Bracket> brackets) {
    RenewalTimes out;
    if (brackets.empty()) return out;
    Seen seen(brackets);
    std::vector<double> times = seen.middle;
    if (brackets.size() >= fewest) {
        if (auto beat = strokes(seen)) {
            times = std::move(beat->first);
            out.period = beat->second;
        } else {
            const double half = 0.5 * quantile(differences(seen.middle), 0.5);
            for (std::size_t i = 0; i < times.size(); ++i) times[i] = std::max(times[i], seen.high[i] - half);
        }
    }
    for (const double time : times) out.times.push_back(brackets[0].old_value + std::llround(time));
    return out;
}

}  // namespace viridian::meter
