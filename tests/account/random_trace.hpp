#pragma once
// Small random inputs on which brute force can be trusted.
#include <algorithm>
#include <vector>

#include "viridian/account/attribute/leaf.hpp"
#include "viridian/account/power/power_types.hpp"
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

}  // namespace viridian::account::tests
