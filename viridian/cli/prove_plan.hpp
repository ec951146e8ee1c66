#pragma once
// Plans and proves (docs/method.md, 4): whole outputs against the reference kernels'; of large models also
// every kernel by itself. A plan that fails is made again: one that rounds to bf16 without the regions that
// bring most of the error, another without its most suspect kernel.
#include "viridian/cli/planned.hpp"
#include "viridian/cli/precision_budget.hpp"
#include "viridian/cli/reference_cache.hpp"
#include "viridian/execute/check_regions.hpp"
#include "viridian/execute/proof.hpp"
#include "viridian/profile/on_demand.hpp"

namespace viridian::cli {

// Above this much work a run of the reference kernels takes many seconds: one set of inputs is tried end to
// end instead of three, and each distinct kernel on what it really reads.
inline constexpr Flop large_model = Flop(20'000'000'000);
[[nodiscard]] Result<bool> is_large(const graph::Graph& graph);

struct Question {
    const graph::Graph& original;
    TensorSets inputs;
    ReferenceOutputs expected;
    bool by_region = false;
    std::optional<double> max_error = std::nullopt;  // --max-error; else by what the plan uses
};

// What the error budget takes away, by node.
struct PrecisionLimits {
    std::vector<graph::NodeId> keep_f32;
    std::vector<graph::NodeId> unfiltered;  // no minimal filtering in bf16
};

// `source` without the choices that `unfiltered` excludes; both must outlive it.
[[nodiscard]] cost::Source within(const cost::Source& source, const std::vector<graph::NodeId>& unfiltered);

struct Proven {
    Planned planned;
    execute::Proof proof;
    std::vector<execute::RegionCheck> regions;  // of large models
    std::vector<Forbidden> forbidden;           // bf16, by the error budget
    PrecisionLimits limits;                     // which that came to
    std::set<std::string> only_reference;       // regions whose every faster kernel was forbidden
    int reused = 0;  // sets of inputs whose reference outputs an earlier run computed

    // `verification` of the result.
    [[nodiscard]] Json json() const;
};

// Errors: not_equal when no plan passes, those of planning and running.
[[nodiscard]] Result<Proven> plan_and_prove(const graph::Graph& graph, const Question& question,
                                            execute::Device& device, profile::OnDemand& costs,
                                            const search::Objective& objective,
                                            const search::AssignOptions& solver);

}  // namespace viridian::cli
