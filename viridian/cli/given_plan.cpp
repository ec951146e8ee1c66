#include "viridian/cli/given_plan.hpp"

#include <algorithm>

#include "viridian/cli/prove_plan.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/execute/inputs.hpp"

namespace viridian::cli {
namespace {

constexpr const char* again = "run it with --retune, or run `viridian optimize` here";

// Whether the choices, each allowed by itself, may stand together (who overwrites or gathers what another
// still reads, what must stay f32): by the rules of planning, in which each region has this one choice.
Result<void> check_together(const graph::Graph& graph, const plan::Plan& plan) {
    std::vector<plan::Region> regions;
    for (const plan::AssignedRegion& assigned : plan.assignment.regions) regions.push_back(assigned.region);
    cost::Source only;
    only.choices = [&](const graph::Graph&,
                       const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
        const auto at = std::ranges::find(plan.assignment.regions, region, &plan::AssignedRegion::region);
        return std::vector<cost::PricedChoice>{{at->choice, {}}};
    };
    only.conversion = [](const graph::Dims&, const plan::Format&, const plan::Format&) {
        return Result<cost::Price>(cost::Price{Seconds(1), {}, {}, {}});
    };
    const auto fits = [&]() -> Result<void> {
        VIRIDIAN_TRY(const search::Instance instance, search::Instance::make(graph, regions, only));
        VIRIDIAN_TRY(search::solve(instance, {}));
        return {};
    }();
    if (fits.ok()) return {};
    return fail(ErrorCode::mismatch, again, "the plan's kernels do not fit together: {}",
                fits.error().message);
}

Result<std::unique_ptr<execute::Device>> open_as_asked(ModelOptions& options, const Asked& asked) {
    if (!asked.bf16 || allows_bf16(options)) return open_device(options);
    ModelOptions wider = options;
    wider.allow = {"bf16"};
    auto device = open_device(wider);
    if (device.ok()) {
        options = std::move(wider);
        return device;
    }
    if (device.error().code != ErrorCode::unsupported) return device;
    VIRIDIAN_TRY(device, open_device(options));
    fmt::print(stderr, "the plan may use bf16, which this processor has no instructions for: f32 alone\n");
    return device;
}

Result<Planned> proven(const graph::Graph& graph, const ModelOptions& options, const Asked& asked,
                       std::uint64_t seed, execute::Device& device, profile::OnDemand& costs,
                       const search::Objective& objective) {
    VIRIDIAN_TRY(const bool large, is_large(graph));
    TensorSets inputs;
    for (std::uint64_t i = 0; i < (large ? 1U : 3U); ++i) {
        VIRIDIAN_TRY(auto set, execute::seeded_inputs(graph, seed + i));
        inputs.push_back(std::move(set));
    }
    VIRIDIAN_TRY(ReferenceOutputs expected,
                 reference_cache(options).outputs(graph, inputs, device.threads()));
    const Question question{graph, std::move(inputs), std::move(expected), large, asked.max_error};
    VIRIDIAN_TRY(Proven done, plan_and_prove(graph, question, device, costs, objective, {}));
    return std::move(done.planned);
}

}  // namespace

Result<Given> planned_as_given(graph::Graph graph, const Json& sidecar, ModelOptions options) {
    VIRIDIAN_TRY(plan::Plan plan, plan::plan_from_json(graph, sidecar));
    VIRIDIAN_TRY(auto device, open_device(options));
    if (plan.device != device->fingerprint() || plan.library != device->library() ||
        plan.threads != device->threads())
        return fail(ErrorCode::mismatch, again,
                    "the plan was made for {} with {} and {} threads; this is {} with {} and {}", plan.device,
                    plan.library, plan.threads, device->fingerprint(), device->library(), device->threads());
    if (changed_since_written(sidecar))
        return fail(ErrorCode::malformed, again,
                    "the plan was changed after it was written: its digest is another one");
    if (execute::rounds(graph, plan) && !allows_bf16(options)) {
        options.allow = {"bf16"};
        VIRIDIAN_TRY(device, open_device(options));
    }
    VIRIDIAN_TRY(execute::check_offered(*device, graph, plan));
    VIRIDIAN_TRY(check_together(graph, plan));
    VIRIDIAN_TRY(auto executable, device->prepare_consuming(graph, plan));
    return Given{std::move(device), {std::move(graph), std::move(plan), std::move(executable), {}}};
}

Result<Retuned> retuned(graph::Graph graph, ModelOptions options, const Asked& asked, std::uint64_t seed) {
    Retuned result;
    VIRIDIAN_TRY(result.objective, search::parse_objective(asked.objective.value_or("time")));
    VIRIDIAN_TRY(result.device, open_as_asked(options, asked));
    result.bf16 = allows_bf16(options);
    VIRIDIAN_TRY(cost::Database database, open_database(options));
    VIRIDIAN_TRY(const auto energy, profile::EnergyPricer::open(options.meter, result.device->threads()));
    profile::OnDemand costs(*result.device, database, energy,
                            {.protocol = {}, .allowances = allowances_text(options)});
    costs.price_for(graph);
    if (result.bf16 || asked.max_error) {
        VIRIDIAN_TRY(result.planned,
                     proven(graph, options, asked, seed, *result.device, costs, result.objective));
        return result;
    }
    VIRIDIAN_TRY(result.planned, make_plan_only(std::move(graph), costs.source(), result.objective, {}));
    VIRIDIAN_TRY(result.planned.executable,
                 result.device->prepare_consuming(result.planned.graph, result.planned.plan));
    return result;
}

}  // namespace viridian::cli
