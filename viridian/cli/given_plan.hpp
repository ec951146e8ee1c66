#pragma once
// A plan that is given as a file: run as it is where it is whole and made for this machine, or made anew.
#include "viridian/cli/model_session.hpp"
#include "viridian/cli/planned.hpp"
#include "viridian/cli/sidecar.hpp"

namespace viridian::cli {

struct Given {
    std::unique_ptr<execute::Device> device;  // allowed bf16 where the plan uses it
    Planned planned;
};

// Ready to run. Errors: malformed for what is no plan or was changed; mismatch for another model, another
// machine, or kernels that do not do what the plan gives them to do.
[[nodiscard]] Result<Given> planned_as_given(graph::Graph graph, const Json& sidecar, ModelOptions options);

struct Retuned {
    std::unique_ptr<execute::Device> device;
    Planned planned;
    search::Objective objective;
    bool bf16 = false;
};

// Kernels chosen anew for this machine, for what was asked of the plan. Where bf16 is allowed or an error
// bound was asked for, the plan is proven against `graph` on the reference kernels. What cannot be as it was
// asked is said on stderr.
[[nodiscard]] Result<Retuned> retuned(graph::Graph graph, ModelOptions options, const Asked& asked,
                                      std::uint64_t seed);

}  // namespace viridian::cli
