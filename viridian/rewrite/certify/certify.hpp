#pragma once
// Certifies a rule on one random graph that it makes itself (docs/method.md, 4).
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {

// Makes the instance of `rule` for `seed`, applies the rule, verifies the result and compares both sides on
// random inputs: in double precision without rounding (1e-9), in single precision as the model rounds (1e-4),
// and exactly over the prime field if the rule is polynomial. Errors: not_equal, missing_entry (the instance
// holds no match), broken_invariant (the result does not verify).
[[nodiscard]] Result<void> certify(const Rule& rule, std::uint64_t seed);

// Compares both graphs in double precision on the random inputs of `seed`; `tolerance` is relative to the
// largest output. Errors: not_equal with the largest difference, invalid_argument for an input of unknown
// extents.
[[nodiscard]] Result<void> compare(const Graph& before, const Graph& after, std::uint64_t seed,
                                   double tolerance);

}  // namespace viridian::rewrite
