#pragma once
// Reports the precision of a plan, for the result and the page: by layer, in all, and in one line of text.
#include "viridian/optimize/prove_plan.hpp"

namespace viridian::optimize {

// Returns the precision of one choice: "f32", "bf16", or "bf16 → f32" if its floating-point inputs and
// outputs differ.
[[nodiscard]] std::string precision_of(const plan::Choice& choice);

// Returns the member `precision` of the result: the number of regions and of those that round, the casts
// between the types, the operators that must stay in f32 (plan/precision.hpp), counted by name, and what
// the error budget forbade.
[[nodiscard]] Json precision_json(const PlannedModel& planned,
                                  const std::vector<prove::Forbidden>& forbidden);

// Returns the same in one line of text, without the operators.
[[nodiscard]] std::string precision_text(const PlannedModel& planned,
                                         const std::vector<prove::Forbidden>& forbidden);

}  // namespace viridian::optimize
