#pragma once
// Recognises maximum pooling and the functions that it commutes with, for pool_before_function and
// pool_after_function.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// Returns whether `node` is a function that never decreases, as its operator's row says.
[[nodiscard]] bool never_decreases(const Node& node);

// Returns whether `node` is a MaxPool of one output with explicit padding, sizes rounded down, and no window
// in padding alone.
[[nodiscard]] bool is_plain_max_pool(const Node& node);

// Makes a random MaxPool and a function that never decreases; `pool_last` says which comes last.
Graph max_pool_instance(Random& random, ElementType element, bool pool_last);

}  // namespace viridian::rewrite
