// Sessions from plans: run as they were written, or tuned anew.
#include <algorithm>

#include "viridian/base/json.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/optimize/options.hpp"
#include "viridian/optimize/prove_plan.hpp"
#include "viridian/plan/precision.hpp"
#include "viridian/profile/estimated.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/search/assign/solvers.hpp"
#include "viridian/session/session.hpp"

namespace viridian::session {
namespace {

using optimize::PlannedModel;
using optimize::Request;

constexpr const char* again = "run it with --retune, or run `viridian optimize` here";

// Whether the choices, each allowed by itself, may stand together (who overwrites or gathers what another
// still reads, what must stay f32): by the rules of planning, in which each region has this one choice.
Result<void> check_together(const graph::Graph& graph, const plan::Plan& plan) {
    std::vector<plan::Region> regions;
    for (const plan::AssignedRegion& assigned : plan.assignment.regions) regions.push_back(assigned.region);
    cost::PriceSource only;
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

// Prepares the executable anew with the model's states, because a proof sets the states of the one it ran.
Result<Session> ready(Session session, const ModelOptions& options) {
    session.planned.executable.reset();
    VIRIDIAN_TRY(check_memory(session.planned.graph, session.planned.plan, options));
    VIRIDIAN_TRY(session.planned.executable,
                 session.device->prepare_consuming(session.planned.graph, session.planned.plan));
    return session;
}

// Returns `source` without kernels whose workspace is larger than `most`. A single node for which no other
// kernel is left keeps those with the smallest one. Reference kernels are offered only if there is no other:
// they allocate memory while they run, which no workspace tells.
cost::PriceSource with_workspaces_of(Bytes most, const cost::PriceSource& source) {
    const auto choices = [most, source](
                             const graph::Graph& graph,
                             const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
        VIRIDIAN_TRY(auto offered, source.choices(graph, region));
        const auto is_reference = [](const cost::PricedChoice& one) {
            return one.choice.variant.algorithm == plan::Algorithm::reference;
        };
        if (!std::ranges::all_of(offered, is_reference)) std::erase_if(offered, is_reference);
        Bytes allowed = most;
        if (region.nodes.size() == 1 && !offered.empty()) {
            const auto workspace = [](const cost::PricedChoice& one) { return one.choice.workspace; };
            allowed = std::max(most, workspace(*std::ranges::min_element(offered, {}, workspace)));
        }
        std::erase_if(offered, [&](const auto& one) { return one.choice.workspace > allowed; });
        return offered;
    };
    return {choices, source.conversion};
}

// Calls `make`, which plans with kernels whose workspaces are not larger than its argument; without an
// argument all are allowed. If a run of the plan would need more memory than the options say, plans again
// with workspaces no larger than what the buffers leave free, and, if that is not enough, with the smallest
// ones. Returns the plan that needs least.
template <typename Make>
Result<PlannedModel> planned_within(const ModelOptions& options, const Make& make) {
    VIRIDIAN_TRY(PlannedModel best, make(std::nullopt));
    if (options.memory.empty()) return best;
    VIRIDIAN_TRY(const Bytes allowed, allowed_memory(options));
    VIRIDIAN_TRY(Bytes least, memory_need(best.graph, best.plan));
    for (const Bytes most : {Bytes(best.plan.workspace_bytes) - (least - allowed), Bytes(0)}) {
        if (least <= allowed) break;
        if (most < Bytes(0)) continue;
        auto made = make(most);
        if (!made.ok() && optimize::tells_of_no_plan(made.error())) continue;
        VIRIDIAN_TRY(PlannedModel smaller, std::move(made));
        VIRIDIAN_TRY(const Bytes need, memory_need(smaller.graph, smaller.plan));
        if (need >= least) continue;
        least = need;
        best = std::move(smaller);
    }
    return best;
}

// Plans by estimated prices, within the memory that the options say.
Result<PlannedModel> planned_by(const search::AssignOptions& solver, const graph::Graph& graph,
                                const ModelOptions& options, execute::Device& device) {
    return planned_within(options, [&](std::optional<Bytes> most) {
        const cost::PriceSource source = profile::estimated(device);
        return optimize::make_planned(graph, nullptr, most ? with_workspaces_of(*most, source) : source, {},
                                      solver);
    });
}

// Plans every node by itself.
Result<PlannedModel> planned_apart(const graph::Graph& graph, const ModelOptions& options,
                                   execute::Device& device) {
    search::AssignOptions solver;
    solver.solver = &search::first_solver;
    return planned_by(solver, graph, options, device);
}

// Plans with the kernels that take least time by estimated prices. The same model on the same machine always
// gets the same kernels: where dynamic programming is too large to end, the first ones that are offered, not
// the best that some time allows.
Result<PlannedModel> planned_without_measuring(const graph::Graph& graph, const ModelOptions& options,
                                               execute::Device& device) {
    search::AssignOptions solver;
    solver.exact = {.most_entries = 1e7, .time_limit = Seconds(0), .tolerance = 0, .cancelled = {}};
    auto planned = planned_by(solver, graph, options, device);
    return planned.ok() || !optimize::tells_of_no_plan(planned.error())
               ? std::move(planned)
               : planned_apart(graph, options, device);
}

Result<Session> prepare_estimated(LoadedModel model, const ModelOptions& options) {
    Session session;
    VIRIDIAN_TRY(session.device, open_device(options));
    VIRIDIAN_TRY(session.planned, planned_without_measuring(model.graph, options, *session.device));
    model.graph = graph::Graph();  // the copy that is planned holds the weights alone
    return ready(std::move(session), options);
}

// Opens the device with what the plan's user allowed.
Result<std::unique_ptr<execute::Device>> open_as_requested(ModelOptions& options, const Request& request) {
    options.exact_arithmetic = options.exact_arithmetic || request.exact_arithmetic;
    if (request.bf16) options.allow = {"bf16"};
    return open_device(options);
}

std::string words_on_bf16(const PlannedModel& planned) {
    std::size_t kernels = 0, rounding = 0;
    for (const plan::AssignedRegion& assigned : planned.plan.assignment.regions) {
        const plan::Aliasing aliasing = assigned.choice.aliasing;
        if (aliasing == plan::Aliasing::view || aliasing == plan::Aliasing::gather) continue;
        ++kernels;
        rounding += plan::rounds(planned.graph, assigned.region, assigned.choice) ? 1 : 0;
    }
    return fmt::format("{} of {} kernels store in bf16", rounding, kernels);
}

Result<PlannedModel> proven(const graph::Graph& graph, const ModelOptions& options, const Request& request,
                            std::uint64_t seed, execute::Device& device, optimize::Costs& costs,
                            const search::Objective& objective) {
    VIRIDIAN_TRY(const bool large, optimize::is_large(graph));
    prove::TensorSets inputs;
    for (std::uint64_t i = 0; i < (large ? 1U : 3U); ++i) {
        VIRIDIAN_TRY(auto set, prove::seeded_inputs(graph, seed + i));
        inputs.push_back(std::move(set));
    }
    VIRIDIAN_TRY(prove::ReferenceOutputs expected,
                 reference_cache(options).outputs(graph, inputs, device.threads()));
    const optimize::ProofTask task{graph, std::move(inputs), std::move(expected), large, request.max_error};
    VIRIDIAN_TRY(optimize::ProvenPlan done,
                 optimize::plan_and_prove(graph, task, device, costs, objective, {}));
    return std::move(done.planned);
}

}  // namespace

Result<Session> prepare_apart(LoadedModel model, const ModelOptions& options) {
    Session session;
    VIRIDIAN_TRY(session.device, open_device(options));
    VIRIDIAN_TRY(session.planned, planned_apart(model.graph, options, *session.device));
    model.graph = graph::Graph();  // the copy that is planned holds the weights alone
    return ready(std::move(session), options);
}

Result<Bytes> planned_need(graph::Graph graph, const ModelOptions& options) {
    VIRIDIAN_TRY(rewrite::simplify(graph));
    VIRIDIAN_TRY(const auto device, open_device(options));
    VIRIDIAN_TRY(const PlannedModel planned, planned_without_measuring(graph, options, *device));
    return memory_need(planned.graph, planned.plan);
}

Result<Session> prepare(LoadedModel model, ModelOptions options) {
    if (model.sidecar == nullptr) return prepare_estimated(std::move(model), options);
    VIRIDIAN_TRY(plan::Plan plan, plan::plan_from_json(model.graph, *model.sidecar));
    if (options.threads == 0) options.threads = plan.threads;
    Session session;
    VIRIDIAN_TRY(session.device, open_device(options));
    const execute::Device& device = *session.device;
    if (plan.device != device.fingerprint() || !device.runs_plans_of(plan.library) ||
        plan.threads != device.threads())
        return fail(ErrorCode::mismatch, again,
                    "the plan was made for {} with {} and {} threads; this is {} with {} and {}", plan.device,
                    plan.library, plan.threads, device.fingerprint(), device.library(), device.threads());
    if (optimize::changed_since_written(*model.sidecar))
        return fail(ErrorCode::malformed, again,
                    "the plan was changed after it was written: its digest is another one");
    if (plan::rounds(model.graph, plan.assignment) && !allows_bf16(options)) {
        options.allow = {"bf16"};
        VIRIDIAN_TRY(session.device, open_device(options));
    }
    VIRIDIAN_TRY(execute::check_offered(*session.device, model.graph, plan));
    VIRIDIAN_TRY(check_together(model.graph, plan));
    VIRIDIAN_TRY(check_memory(model.graph, plan, options));
    VIRIDIAN_TRY(auto executable, session.device->prepare_consuming(model.graph, plan));
    session.planned = {std::move(model.graph), std::move(plan), std::move(executable), {}, {}, {}};
    return session;
}

Result<Session> retune(LoadedModel model, ModelOptions options, std::uint64_t seed, Listener& listener) {
    const Request& request = model.request;
    if (model.sidecar != nullptr) {
        VIRIDIAN_TRY(plan::plan_from_json(model.graph, *model.sidecar));  // a plan, and this model's
        if (!request.objective)
            listener.note(
                fmt::format("the plan does not say what it was made for: re-tuned for time, in f32{}",
                            allows_bf16(options) ? " and bf16" : ""));
    }
    Session session;
    Tuning tuning;
    VIRIDIAN_TRY(tuning.objective, search::parse_objective(request.objective.value_or("time")));
    VIRIDIAN_TRY(session.device, open_as_requested(options, request));
    tuning.bf16 = allows_bf16(options);
    VIRIDIAN_TRY(cost::Database database, open_database(options));
    VIRIDIAN_TRY(const auto costs, optimize::MeasuredCosts::open(
                                       *session.device, database, energy_options(options),
                                       allowances_text(options), optimize::weighs_joules(tuning.objective)));
    costs->price_for(model.graph);
    VIRIDIAN_TRY(costs->calibrate());
    VIRIDIAN_TRY(const auto forecast, costs->forecast({model.graph}));
    if (forecast && forecast->missing() > 0)
        listener.note(fmt::format("{}; Ctrl-C keeps what was measured", forecast->text()));
    costs->report_to(&listener, forecast ? &*forecast : nullptr);
    session.tuning = tuning;
    if (tuning.bf16 || request.max_error) {
        VIRIDIAN_TRY(session.planned,
                     proven(model.graph, options, request, seed, *session.device, *costs, tuning.objective));
        model.graph = graph::Graph();  // the copy that is planned holds the weights alone
    } else {
        const auto plan = [&](std::optional<Bytes> most) {
            cost::PriceSource source = costs->source();
            std::vector<optimize::PlanThreads> fewer = costs->on_fewer_threads();
            if (most) {
                source = with_workspaces_of(*most, source);
                for (optimize::PlanThreads& on : fewer) on.source = with_workspaces_of(*most, on.source);
            }
            return optimize::make_planned(model.graph, nullptr, source, tuning.objective, {}, fewer);
        };
        VIRIDIAN_TRY(session.planned, planned_within(options, plan));
        model.graph = graph::Graph();  // the copy that is planned holds the weights alone
    }
    if (tuning.bf16) listener.note(words_on_bf16(session.planned));
    return ready(std::move(session), options);
}

}  // namespace viridian::session
