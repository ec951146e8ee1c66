#include "viridian/optimize/prove_plan.hpp"

#include "viridian/plan/precision.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "viridian/graph/data_flow.hpp"
#include "viridian/prove/f32_rounding.hpp"

namespace viridian::optimize {
namespace {

// Kernels that round answer for the whole network's error, not for their own.
const prove::RegionCheck* worst_of(const std::vector<prove::RegionCheck>& checks) {
    const prove::RegionCheck* worst = nullptr;
    for (const prove::RegionCheck& check : checks)
        if (!check.rounds && (worst == nullptr || check.error > worst->error)) worst = &check;
    return worst;
}

// What the plan's exact kernels may show each by itself.
double allowed_alone(const PlannedModel& planned, double allowed) {
    return plan::rounds(planned.graph, planned.plan.assignment) ? std::min(allowed, 1e-3) : allowed;
}

Error no_plan(const prove::RegionCheck& worst) {
    return fail(ErrorCode::not_equal, "please report it with the model; nothing was written",
                "no plan gives the original's outputs; the worst kernel is `{}` at node `{}` (error {:.1e})",
                worst.kernel, worst.node, worst.error);
}

Error not_equal_together() {
    return fail(ErrorCode::not_equal, "please report it with the model; nothing was written",
                "no plan gives the original's outputs, though each of its kernels by itself is equal to the "
                "reference");
}

// Every kernel that is wrong by itself, and the worst in any case; or all of its region but the reference.
void forbid_wrong(const std::vector<prove::RegionCheck>& checks, const prove::RegionCheck& worst,
                  double allowed, bool all, Costs& costs, std::set<std::string>& only_reference) {
    for (const prove::RegionCheck& check : checks) {
        if (check.rounds || (check.error <= allowed && &check != &worst)) continue;
        costs.forbid(check.signature, check.choice);
        if (!all) continue;
        costs.forbid_all_but_reference(check.signature);
        only_reference.insert(check.signature);
    }
}

// Forbids bf16 where it hurts most, Winograd in bf16 first; all of it after many rounds.
Result<void> forbid_worst(const ProofTask& task, const ProvenPlan& proven, execute::Device& device, int round,
                          std::vector<prove::Forbidden>& forbidden, PrecisionLimits& limits) {
    constexpr int patience = 12;
    const PlannedModel& planned = proven.planned;
    VIRIDIAN_TRY(const std::vector<prove::Blame> blames,
                 prove::blame_rounding(device, planned.graph, planned.plan, task.inputs));
    // Take both from the output whose error is the largest multiple of what is allowed.
    double error = 0, allowed = 1;
    for (const prove::OutputAgreement& output : proven.proof.outputs) {
        const double own = output.same_nan ? output.error : std::numeric_limits<double>::infinity();
        if (output.allowed > 0 && own * allowed > error * output.allowed)
            error = own, allowed = output.allowed;
    }
    // A little below the budget, since errors do not add up exactly as squares; half of what there is where
    // only the best class changed.
    const double target = error > allowed ? 0.8 * allowed : 0.5 * error;
    const auto worst = round < patience ? prove::to_forbid(blames, error, target) : std::span(blames);
    for (const prove::Blame& blame : worst) {
        forbidden.push_back({blame, round});
        bool& only_winograd = forbidden.back().blame.winograd_bf16;
        only_winograd = only_winograd && round < patience;
        auto& list = only_winograd ? limits.no_winograd_bf16 : limits.keep_f32;
        list.insert(list.end(), blame.nodes.begin(), blame.nodes.end());
    }
    return {};
}

// Proves the plan again, and lets results be off by what f32 itself loses, within the user's budget.
Result<void> prove_again_in_f32(const ProofTask& task, const prove::AllowedError& allowed,
                                ProvenPlan& proven) {
    const graph::Graph& graph = proven.planned.graph;
    const auto [known, is_new] = task.in_f32.try_emplace(structural_hash(graph));
    if (is_new) known->second = prove::allowed_in_f32(task.original, graph, task.inputs);
    std::vector<prove::AllowedError> more = known->second;
    if (task.max_error)
        for (prove::AllowedError& one : more) one.error = std::min(one.error, *task.max_error);
    if (more.empty()) return {};
    VIRIDIAN_TRY(proven.proof, prove::prove(task.original, task.inputs, task.expected.outputs,
                                            *proven.planned.executable, allowed, more));
    return {};
}

// How far an f32 plan is off that only the user's budget refuses: as good as any plan must be without it.
struct OverBudget {
    double error = std::numeric_limits<double>::infinity();
    std::string where;
};

OverBudget over_budget(const ProvenPlan& proven, const prove::RegionCheck* worst_kernel,
                       const ProofTask& task) {
    const double usual = prove::allowed_error(task.original, proven.planned.graph, proven.planned.plan).error;
    const bool kernels =
        worst_kernel == nullptr || worst_kernel->error <= allowed_alone(proven.planned, usual);
    if (!task.max_error || !kernels) return {};
    OverBudget over{0, ""};
    if (worst_kernel != nullptr && task.by_region)
        over = {worst_kernel->error, fmt::format("kernel `{}`", worst_kernel->kernel)};
    for (const prove::OutputAgreement& output : proven.proof.outputs) {
        if (output.exact ? !output.passed() : !output.same_nan || output.error > usual) return {};
        if (output.error >= over.error) over = {output.error, fmt::format("output `{}`", output.name)};
    }
    return over;
}

Error unreachable(double max_error, const OverBudget& closest) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("allow at least {:.1e}, or leave --max-error out", 1.05 * closest.error),
                "no plan stays within --max-error {:g}, even without bf16: in f32 the {} differs by {:.1e} "
                "(relative L2)",
                max_error, closest.where, closest.error);
}

}  // namespace

cost::PriceSource within(const cost::PriceSource& source,
                         const std::vector<graph::NodeId>& no_winograd_bf16) {
    return {[&](const graph::Graph& graph,
                const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
                VIRIDIAN_TRY(auto choices, source.choices(graph, region));
                const bool excluded = std::ranges::any_of(region.nodes, [&](graph::NodeId id) {
                    return std::ranges::find(no_winograd_bf16, id) != no_winograd_bf16.end();
                });
                if (excluded)
                    std::erase_if(choices, [](const cost::PricedChoice& priced) {
                        return priced.choice.variant.algorithm == plan::Algorithm::winograd_bf16;
                    });
                return choices;
            },
            source.conversion};
}

Result<bool> is_large(const graph::Graph& graph) {
    VIRIDIAN_TRY(const graph::DataFlow flow, graph::data_flow(graph));
    Flop sum;
    for (const graph::NodeFlow& node : flow.nodes) sum += node.flop;
    return sum > large_model;
}

Result<ProvenPlan> plan_and_prove(const graph::Graph& graph, const ProofTask& task, execute::Device& device,
                                  Costs& costs, const search::Objective& objective,
                                  const search::AssignOptions& solver, std::optional<int> only_threads) {
    constexpr int attempts = 8, budget_attempts = 4, before_reference = 4;
    search::AssignOptions limited = solver;
    PrecisionLimits limits{solver.keep_f32, {}};
    const cost::PriceSource measured = costs.source();
    const cost::PriceSource source = within(measured, limits.no_winograd_bf16);
    const std::vector<PlanThreads> priced_on_fewer = costs.on_fewer_threads();
    std::vector<PlanThreads> on_fewer;
    for (const PlanThreads& fewer : priced_on_fewer)
        on_fewer.push_back({fewer.threads, within(fewer.source, limits.no_winograd_bf16)});
    std::vector<prove::Forbidden> forbidden;
    OverBudget closest;
    std::optional<prove::RegionCheck> suspect;  // forbidden in the last attempt
    std::set<std::string> only_reference;
    for (int attempt = 1, round = 1;;) {
        ProvenPlan proven;
        proven.reused = task.expected.reused;
        proven.forbidden = forbidden;
        auto made = make_planned(graph, &device, source, objective, limited, on_fewer, only_threads);
        if (!made.ok() && made.error().code == ErrorCode::unsupported) {  // some region has no kernel left
            if (std::isfinite(closest.error)) return unreachable(*task.max_error, closest);
            if (suspect) return no_plan(*suspect);
        }
        VIRIDIAN_TRY(proven.planned, std::move(made));
        const PlannedModel& planned = proven.planned;
        const prove::AllowedError allowed =
            prove::allowed_error(task.original, planned.graph, planned.plan, task.max_error);
        VIRIDIAN_TRY(proven.proof, prove::prove(task.original, task.inputs, task.expected.outputs,
                                                *planned.executable, allowed));
        if (!proven.proof.passed() && plan::rounds(planned.graph, planned.plan.assignment)) {
            VIRIDIAN_TRY(forbid_worst(task, proven, device, round++, forbidden, limits));
            limited.keep_f32 = limits.keep_f32;
            continue;
        }
        const bool passed_at_once = proven.proof.passed();
        if (!passed_at_once) VIRIDIAN_TRY(prove_again_in_f32(task, allowed, proven));
        std::vector<prove::RegionCheck> checks;
        // The bound of gradients in bf16 is wide enough to hide a wrong kernel in f32, so kernels are checked
        // alone too.
        const bool may_hide = allowed.of_gradients && !task.original.states().empty();
        if (task.by_region || !passed_at_once || may_hide) {
            VIRIDIAN_TRY(checks, prove::check_regions(device, planned.graph, planned.plan, task.inputs));
        }
        const prove::RegionCheck* worst = worst_of(checks);
        const OverBudget now = over_budget(proven, worst, task);
        if (now.error < closest.error) closest = now;
        if (proven.proof.passed() &&
            (worst == nullptr || worst->error <= allowed_alone(planned, allowed.error))) {
            proven.regions = std::move(checks);
            proven.limits = std::move(limits);
            proven.only_reference = std::move(only_reference);
            return proven;
        }
        const bool only_budget = std::isfinite(closest.error);
        if (worst == nullptr || worst->error == 0 || attempt == (only_budget ? budget_attempts : attempts)) {
            if (only_budget) return unreachable(*task.max_error, closest);
            return worst == nullptr || worst->error == 0 ? not_equal_together() : no_plan(*worst);
        }
        const bool all = attempt >= before_reference && !only_budget;
        forbid_wrong(checks, *worst, allowed_alone(planned, allowed.error), all, costs, only_reference);
        suspect = *worst;
        ++attempt;
    }
}

const prove::RegionCheck* ProvenPlan::worst_kernel() const { return worst_of(regions); }

Json ProvenPlan::json() const {
    Json outputs = Json::array();
    for (const prove::OutputAgreement& output : proof.outputs) {
        outputs.push_back({{"name", output.name},
                           {"error", output.error},
                           {"allowed", output.allowed},
                           {"because", output.because},
                           {"same_nan", output.same_nan}});
        if (output.elements > 0)
            outputs.back()["integers"] = {{"elements", output.elements}, {"differing", output.differing}};
        if (output.rows > 0) outputs.back()["top1"] = {{"rows", output.rows}, {"agreeing", output.agreeing}};
    }
    Json json = {{"outputs", std::move(outputs)},
                 {"inputs", proof.inputs},
                 {"reference_reused", reused},
                 {"passed", proof.passed()}};
    if (!only_reference.empty()) json["only_reference"] = only_reference.size();
    if (!forbidden.empty()) json["forbidden"] = to_json(forbidden);
    if (const prove::RegionCheck* worst = worst_of(regions); worst != nullptr)
        json["kernels"] = {{"checked", regions.size()},
                           {"error", worst->error},
                           {"worst", {{"node", worst->node}, {"kernel", worst->kernel}}}};
    return json;
}

}  // namespace viridian::optimize
