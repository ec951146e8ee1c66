#pragma once
// Small random inputs on which brute force can be trusted.
#include <algorithm>
#include <vector>

#include "viridian/account/leaf.hpp"
#include "viridian/account/steps.hpp"
#include "viridian/base/random.hpp"

namespace viridian::account::tests {

inline std::vector<Leaf> random_leaves(Random& random, int count, Nanoseconds length, OperationId operations,
                                       bool weighted) {
    std::vector<Leaf> leaves;
    for (int i = 0; i < count; ++i) {
        const Nanoseconds start = random.between(0, length - 1);
        const Nanoseconds end = std::min(length, start + random.between(0, length / 4));
        leaves.push_back({start, end, static_cast<OperationId>(random.below(operations)),
                          weighted ? static_cast<std::uint32_t>(random.between(1, 9)) : 1});
    }
    std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return a.start < b.start; });
    return leaves;
}

// Counter readings at random times, with wraps.
inline meter::Series random_counter(Random& random, Nanoseconds begin, Nanoseconds end, std::int64_t wrap) {
    meter::Series series{{"test", "cpu:0", meter::Scope::package, meter::Kind::energy_uj, wrap}, {}};
    std::int64_t value = random.between(0, wrap);
    for (Nanoseconds time = begin; time < end; time += random.between(1, 40)) {
        series.readings.push_back({time, value, 0});
        value = (value + random.between(1, wrap / 3)) % wrap;
    }
    return series;
}

}  // namespace viridian::account::tests
