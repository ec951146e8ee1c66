#pragma once
// Summarises repeated measurements of one quantity without assuming their distribution.
#include <cstdint>
#include <vector>

namespace viridian {

struct Summary {
    double minimum = 0;
    double median = 0;
    double low =
        0;  // 95 % interval of the median, from order statistics (binomial; conservative for few values:
    double high = 0;  // below six values it is the whole range)
    std::int64_t count = 0;
    // Half the interval's width relative to the median: what a timing loop drives down.
    [[nodiscard]] double uncertainty() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

[[nodiscard]] Summary summarize(std::vector<double> values);

}  // namespace viridian
