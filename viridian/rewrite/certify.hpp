#pragma once
// Certifies a rule on one random graph of its own making (docs/method.md, 4).
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {

// Makes an instance, applies the rule, verifies the result, and compares both sides: in double precision
// without rounding, in float as the model means it, and exactly over the field where the rule is polynomial.
// Errors: not_equal, missing_entry (the instance holds no match), broken_invariant (the result does not
// verify).
[[nodiscard]] Result<void> certify(const Rule& rule, std::uint64_t seed);

// Both graphs on the same random inputs. Errors: not_equal with the largest difference.
[[nodiscard]] Result<void> compare(const Graph& before, const Graph& after, std::uint64_t seed,
                                   double tolerance);

}  // namespace viridian::rewrite
