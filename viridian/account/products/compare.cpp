#include "viridian/account/products/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace viridian::account {

double correlation(std::span<const double> a, std::span<const double> b) {
    const auto n = static_cast<double>(a.size());
    if (a.size() < 2) return 0.0;
    double mean_a = 0.0, mean_b = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        mean_a += a[i] / n;
        mean_b += b[i] / n;
    }
    double aa = 0.0, bb = 0.0, ab = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
        ab += (a[i] - mean_a) * (b[i] - mean_b);
    }
    return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : 0.0;
}

Comparison compare(const std::vector<FootprintRow>& first, const std::vector<FootprintRow>& second) {
    std::map<std::string, std::pair<const FootprintRow*, const FootprintRow*>> names;
    Comparison out;
    for (const FootprintRow& entry : first) {
        names[entry.name].first = &entry;
        out.total_first += entry.energy;
    }
    for (const FootprintRow& entry : second) {
        names[entry.name].second = &entry;
        out.total_second += entry.energy;
    }
    std::vector<double> energy_a, energy_b, power_a, power_b;
    for (const auto& [name, both] : names) {
        const Joules before = both.first != nullptr ? both.first->energy : Joules(0);
        const Joules after = both.second != nullptr ? both.second->energy : Joules(0);
        out.changes.push_back({name, before, after});
        if (both.first == nullptr || both.second == nullptr) {
            ++(both.first == nullptr ? out.only_second : out.only_first);
            continue;
        }
        energy_a.push_back(before.value);
        energy_b.push_back(after.value);
        power_a.push_back(both.first->watts().value);
        power_b.push_back(both.second->watts().value);
    }
    out.common = energy_a.size();
    out.energy_correlation = correlation(energy_a, energy_b);
    out.power_correlation = correlation(power_a, power_b);
    for (std::size_t i = 0; i < out.common; ++i) {
        out.energy_difference += Joules((energy_b[i] - energy_a[i]) / static_cast<double>(out.common));
        out.power_difference += Watts((power_b[i] - power_a[i]) / static_cast<double>(out.common));
    }
    std::stable_sort(out.changes.begin(), out.changes.end(), [](const Change& a, const Change& b) {
        return std::abs((a.after - a.before).value) > std::abs((b.after - b.before).value);
    });
    return out;
}

std::vector<FootprintRow> mean_footprint(const std::vector<std::vector<FootprintRow>>& runs) {
    struct Moments {
        FootprintRow sum;
        double squares = 0.0;
    };
    std::map<std::string, Moments> names;
    const auto n = static_cast<double>(runs.size());
    for (const std::vector<FootprintRow>& run : runs)
        for (const FootprintRow& entry : run) {
            Moments& moments = names[entry.name];
            moments.sum.energy += entry.energy;
            moments.sum.seconds += entry.seconds;
            moments.sum.count += entry.count;
            moments.squares += entry.energy.value * entry.energy.value;
        }
    std::vector<FootprintRow> out;
    for (auto& [name, moments] : names) {
        FootprintRow mean = moments.sum;
        mean.name = name;
        mean.energy = moments.sum.energy / n;
        mean.seconds = moments.sum.seconds / n;
        const double spread =
            n > 1 ? std::sqrt(std::max(
                        0.0, (moments.squares - n * mean.energy.value * mean.energy.value) / (n - 1)))
                  : 0.0;
        mean.low = mean.energy - Joules(spread);
        mean.high = mean.energy + Joules(spread);
        out.push_back(mean);
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const FootprintRow& a, const FootprintRow& b) { return a.energy > b.energy; });
    return out;
}

}  // namespace viridian::account
