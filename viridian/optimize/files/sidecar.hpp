#pragma once
// What a plan's sidecar says beyond the plan: what `optimize` was request for, which a reader must know to
// make the same graph and to tune it anew, and a digest by which a change after writing shows.
#include <optional>

#include "viridian/plan/plan.hpp"

namespace viridian::optimize {

struct Request {
    std::optional<std::string> objective;  // none: written before sidecars said so
    bool bf16 = false;                     // allowed beyond f32
    std::optional<double> max_error;       // --max-error
    std::vector<std::string> without;      // rules left out
};

// The plan's JSON with `objective`, `precisions`, `max_error`, `without` and `digest`.
[[nodiscard]] Json sidecar_json(const graph::Graph& graph, const plan::Plan& plan, const Request& request);

// Errors: malformed, for a field that is not what `sidecar_json` writes.
[[nodiscard]] Result<Request> request_of(const Json& sidecar);

// The digest is there and another one: numbers or names are not those that were written.
[[nodiscard]] bool changed_since_written(const Json& sidecar);

}  // namespace viridian::optimize
