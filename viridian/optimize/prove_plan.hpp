#pragma once
// Plans a graph and proves that the plan computes the same as the original model (docs/method.md, 4): it
// compares whole outputs with those of the reference kernels and, for large models, every kernel by itself.
// A plan that fails is made again: one that rounds to bf16 without bf16 in the regions that bring most of
// the error, any other without its most suspect kernel.
#include "viridian/optimize/planned.hpp"
#include "viridian/optimize/prices/costs.hpp"
#include "viridian/prove/check_regions.hpp"
#include "viridian/prove/precision_budget.hpp"
#include "viridian/prove/proof.hpp"
#include "viridian/prove/reference_cache.hpp"

namespace viridian::optimize {

// Above this much work a run of the reference kernels takes many seconds: one set of inputs is tried end to
// end instead of three, and each distinct kernel on what it really reads.
inline constexpr Flop large_model = Flop(20'000'000'000);
[[nodiscard]] Result<bool> is_large(const graph::Graph& graph);

struct ProofTask {
    const graph::Graph& original;
    prove::TensorSets inputs;
    prove::ReferenceOutputs expected;
    bool by_region = false;
    std::optional<double> max_error = std::nullopt;  // --max-error; else by what the plan uses
};

// What the error budget takes away, by node.
struct PrecisionLimits {
    std::vector<graph::NodeId> keep_f32;
    std::vector<graph::NodeId> no_winograd_bf16;  // no Winograd in bf16
};

// `source` without the choices that `no_winograd_bf16` excludes; both must outlive it.
[[nodiscard]] cost::Source within(const cost::Source& source,
                                  const std::vector<graph::NodeId>& no_winograd_bf16);

struct ProvenPlan {
    PlannedModel planned;
    prove::Proof proof;
    std::vector<prove::RegionCheck> regions;  // of large models
    std::vector<prove::Forbidden> forbidden;  // bf16, by the error budget
    PrecisionLimits limits;                   // which that came to
    std::set<std::string> only_reference;     // regions whose every faster kernel was forbidden
    int reused = 0;  // sets of inputs whose reference outputs an earlier run computed

    // The check with the largest error among kernels that do not round; null if no kernel was checked alone.
    [[nodiscard]] const prove::RegionCheck* worst_kernel() const;
    // `verification` of the result.
    [[nodiscard]] Json json() const;
};

// Errors: not_equal when no plan passes, those of planning and running.
[[nodiscard]] Result<ProvenPlan> plan_and_prove(const graph::Graph& graph, const ProofTask& task,
                                                execute::Device& device, Costs& costs,
                                                const search::Objective& objective,
                                                const search::AssignOptions& solver);

}  // namespace viridian::optimize
