#pragma once
// Makes grouped convolutions for the instances of split_groups and widen_groups, and holds their limit.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// This is the largest number of groups that either rule takes apart or merges at once.
inline constexpr std::int64_t most_groups = 8;

// Makes a random convolution of two to four groups.
Graph grouped_convolution_instance(Random& random, ElementType element);

}  // namespace viridian::rewrite
