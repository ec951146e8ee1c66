#pragma once
// What a result says of precision: by layer, in all, and in one line of text.
#include "viridian/cli/prove_plan.hpp"

namespace viridian::cli {

// "f32", "bf16", or "bf16 → f32" where the floating ports of one step differ.
[[nodiscard]] std::string precision_of(const plan::Choice& choice);

// `precision` of the result: regions and those that round, casts between the types, what the error budget
// forbade, and the classes by which operators were kept out (plan/precision.hpp), counted by operator.
[[nodiscard]] Json precision_json(const Planned& planned, const std::vector<Forbidden>& forbidden);

[[nodiscard]] std::string precision_text(const Json& result);  // "" without bf16

}  // namespace viridian::cli
