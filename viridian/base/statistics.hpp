#pragma once
// Summarises repeated measurements of one quantity without assuming their distribution.
#include <cstdint>
#include <vector>

namespace viridian {

struct Summary {
    double minimum = 0;
    double median = 0;
    // 95 % interval of the median, from order statistics (binomial distribution). It is conservative for few
    // values: below six values it is the whole range.
    double low = 0;
    double high = 0;
    std::int64_t count = 0;
    // Returns half the interval's width relative to the median. Timing loops repeat until it is small.
    [[nodiscard]] double uncertainty() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

// Summarises `values`, which come in any order. All members are 0 if there are none.
[[nodiscard]] Summary summarize(std::vector<double> values);

}  // namespace viridian
