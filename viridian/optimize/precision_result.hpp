#pragma once
// Reports the precision of a plan, for the result and the page: by layer, in all, and in one line of text.
#include "viridian/optimize/prove_plan.hpp"

namespace viridian::optimize {

// "f32", "bf16", or "bf16 → f32" where the floating ports of one step differ.
[[nodiscard]] std::string precision_of(const plan::Choice& choice);

// `precision` of the result: regions and those that round, casts between the types, what the error budget
// forbade, and the classes by which operators were kept out (plan/precision.hpp), counted by operator.
[[nodiscard]] Json precision_json(const PlannedModel& planned,
                                  const std::vector<prove::Forbidden>& forbidden);

[[nodiscard]] std::string precision_text(const PlannedModel& planned,
                                         const std::vector<prove::Forbidden>& forbidden);

}  // namespace viridian::optimize
