#pragma once
// Plans a graph and proves that the plan computes the same as the original model (docs/method.md, 4): it
// compares whole outputs with those of the reference kernels and, for large models, every kernel by itself.
// If a plan fails, the next one is made with restrictions. If the failed plan rounds to bf16, the regions
// that bring most of the error may not use bf16 (or only not Winograd in bf16). Otherwise the kernels that
// are wrong by themselves, and always the one with the largest error, are forbidden.
#include <map>

#include "viridian/optimize/planned.hpp"
#include "viridian/optimize/prices/costs.hpp"
#include "viridian/prove/check_regions.hpp"
#include "viridian/prove/precision_budget.hpp"
#include "viridian/prove/proof.hpp"
#include "viridian/prove/reference_cache.hpp"

namespace viridian::optimize {

// Above this much work a run of the reference kernels takes many seconds. Then only one set of
// inputs is tried end to end, instead of three, and each distinct kernel is also checked alone on the inputs
// that it gets in that run.
inline constexpr Flop large_model = Flop(20'000'000'000);
// Returns whether one run of `graph` takes more work than `large_model`. Errors: those of data_flow.
[[nodiscard]] Result<bool> is_large(const graph::Graph& graph);

// A ProofTask is the model that a plan must equal, with the outputs that it must have.
struct ProofTask {
    const graph::Graph& original;
    prove::TensorSets inputs;
    prove::ReferenceOutputs expected;
    bool by_region = false;  // each kernel is also checked alone
    std::optional<double> max_error =
        std::nullopt;  // --max-error; without it, the kernels of the plan decide
    // Errors that f32 explains (prove::allowed_in_f32), computed when first needed, by the hash of the graph.
    mutable std::map<std::uint64_t, std::vector<prove::AllowedError>> in_f32 = {};
};

// PrecisionLimits are the nodes at which the error budget forbids bf16.
struct PrecisionLimits {
    std::vector<graph::NodeId> keep_f32;
    std::vector<graph::NodeId> no_winograd_bf16;  // only Winograd in bf16 is forbidden
};

// Returns `source` without the choices that `no_winograd_bf16` excludes; both must outlive the result.
[[nodiscard]] cost::PriceSource within(const cost::PriceSource& source,
                                       const std::vector<graph::NodeId>& no_winograd_bf16);

// A ProvenPlan is a plan that passed, with its proof.
struct ProvenPlan {
    PlannedModel planned;
    prove::Proof proof;
    std::vector<prove::RegionCheck> regions;  // empty if no kernel was checked alone
    std::vector<prove::Forbidden> forbidden;  // regions that the error budget keeps from bf16
    PrecisionLimits limits;                   // the nodes of these, and those of solver.keep_f32
    std::set<std::string> only_reference;     // signatures of regions whose every faster kernel was forbidden
    int reused = 0;  // sets of inputs whose reference outputs an earlier run computed

    // Returns the check with the largest error among kernels that do not round; null if none of those was
    // checked alone.
    [[nodiscard]] const prove::RegionCheck* worst_kernel() const;
    // Returns the member `verification` of the result.
    [[nodiscard]] Json json() const;
};

// Plans `graph` and proves the plan, on `only_threads` if that is given. Errors: not_equal if no plan passes,
// invalid_argument if only
// --max-error is too small for any plan, and those of planning and running.
[[nodiscard]] Result<ProvenPlan> plan_and_prove(const graph::Graph& graph, const ProofTask& task,
                                                execute::Device& device, Costs& costs,
                                                const search::Objective& objective,
                                                const search::AssignOptions& solver,
                                                std::optional<int> only_threads = {});

}  // namespace viridian::optimize
