#include "viridian/search/objective/least_ratio.hpp"

#include <algorithm>
#include <limits>

namespace viridian::search {

double least_ratio(const Instance& instance, Metric x, Metric y) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    double least = infinite;
    const auto take = [&](const Metrics& metrics) {
        const double below = measure(x, metrics), above = measure(y, metrics);
        if (below < 0 || above < 0) least = 0;
        if (below > 0 && below < infinite) least = std::min(least, above / below);
    };
    for (const Candidate& candidate : instance.candidates())
        for (const Option& option : candidate.options) take(option.metrics);
    for (const Flow& flow : instance.flows())
        for (const auto& row : flow.conversions->prices())
            for (const Metrics& price : row) take(price);
    return least < infinite ? least : 0;
}

}  // namespace viridian::search
