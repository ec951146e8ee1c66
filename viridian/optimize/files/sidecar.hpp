#pragma once
// The sidecar of a plan is its JSON file beside the model. Besides the plan it holds the request that
// `optimize` was given, which is needed to tune the plan anew, and a digest, which shows whether the file
// was changed after it was written.
#include <optional>

#include "viridian/plan/plan.hpp"

namespace viridian::optimize {

// A Request is what the user asked for.
struct Request {
    std::optional<std::string> objective;  // absent in older sidecars, which do not hold it
    bool bf16 = false;                     // bf16 is allowed besides f32
    std::optional<double> max_error;       // the value of --max-error: relative L2, above 0 and at most 1
    bool exact_arithmetic = false;         // no kernel by minimal filtering or Strassen
};

// Returns the JSON of `plan` on `graph`, with the fields `objective`, `precisions`, `max_error`,
// `exact_arithmetic` and `digest`. An absent member of `request` gets no field.
[[nodiscard]] Json sidecar_json(const graph::Graph& graph, const plan::Plan& plan, const Request& request);

// Reads the request of a sidecar. Errors: malformed, for a field that is not what sidecar_json() writes.
[[nodiscard]] Result<Request> request_of(const Json& sidecar);

// Returns whether the sidecar has a digest that does not fit its content: numbers or names are not those
// that were written. Spaces and the order of fields do not count.
[[nodiscard]] bool changed_since_written(const Json& sidecar);

}  // namespace viridian::optimize
