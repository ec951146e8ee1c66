#include "viridian/base/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace viridian {

// The median lies between the order statistics k and n−k+1 with probability 1 − 2·P(Binomial(n, ½) < k).
Summary summarize(std::vector<double> values) {
    Summary summary;
    if (values.empty()) return summary;
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    summary.count = static_cast<std::int64_t>(n);
    summary.minimum = values.front();
    summary.median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    double log_probability = -static_cast<double>(n) * std::log(2.0);  // of exactly k successes
    double below = 0;
    std::size_t k = 0;
    while (k < n / 2 && below + std::exp(log_probability) <= 0.025) {
        below += std::exp(log_probability);
        log_probability += std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1));
        ++k;
    }
    const std::size_t rank = k == 0 ? 0 : k - 1;
    summary.low = values[rank];
    summary.high = values[n - 1 - rank];
    return summary;
}

}  // namespace viridian
