#include "viridian/pipeline/planners/planners.hpp"

#include <algorithm>

#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/planners/switching.hpp"
#include "viridian/pipeline/planners/tied.hpp"

namespace viridian::pipeline {
namespace {

PlannerAnswer at(const Network& network, std::vector<int> level) {
    PlannerAnswer answer;
    answer.assignment = at_levels(network, std::move(level));
    return answer;
}

// Beyond the cheapest time a plan gains nothing by taking longer, unless it must wait anyway.
Nanoseconds useful_deadline(const Network& network, const PlanRequest& request) {
    return request.straggler || request.deadline == 0 ? request.deadline
                                                      : std::min(request.deadline, cheapest_time(network));
}

Result<PlannerAnswer> exact(const Network& network, const PlanRequest& request) {
    const Nanoseconds deadline = useful_deadline(network, request);
    if (request.whole_clocks) return whole_clocks(network, deadline);
    VIRIDIAN_TRY(ExactPlan plan, exact_plan(network, deadline));
    PlannerAnswer answer;
    answer.assignment.duration = std::move(plan.duration);
    answer.certificate = plan.certificate;
    answer.bound =
        to_joules(plan.certificate.primal) + network.total_wait() * to_seconds(plan.certificate.time);
    answer.exact = true;
    return answer;
}

}  // namespace

const std::vector<PlannerRow>& planners() {
    using In = const PlanInput&;
    using Request = const PlanRequest&;
    using Out = Result<PlannerAnswer>;
    static const std::vector<PlannerRow> rows = {
        {"exact", "the least energy by the deadline, proven (two clocks in turn where that is needed)",
         [](In in, Request r) -> Out { return exact(in.network, r); }},
        {"switching", "whole clocks with the price of changing them; the relaxation is the bound",
         [](In in, Request r) -> Out {
             const SwitchPrice price{to_nanoseconds(in.profile.switch_latency), in.profile.switch_energy,
                                     to_nanoseconds(in.profile.dwell)};
             return plan_with_switches(in.network, useful_deadline(in.network, r), price);
         }},
        {"tied", "for pipelines too large to solve exactly: steady-state micro-batches tied",
         [](In in, Request r) -> Out { return plan_tied(in.schedule, in.profile, in.network, r.deadline); }},
        {"maximum", "every unit at its highest clock",
         [](In in, Request) -> Out { return at(in.network, maximum_levels(in.network)); }},
        {"uniform", "every unit at the clock with its least energy",
         [](In in, Request) -> Out { return at(in.network, valley_levels(in.network)); }},
        {"norecfg", "ENVPIPE without reconfiguration: full clocks on the envelope, least energy inside",
         [](In in, Request) -> Out {
             return at(in.network, unreconfigured_levels(in.schedule, in.network));
         }},
        {"envpipe", "ENVPIPE, balanced",
         [](In in, Request) -> Out { return envpipe(in.schedule, in.network, Reconfigure::balanced); }},
        {"envpipe-greedy", "ENVPIPE, greedy as in the paper",
         [](In in, Request) -> Out { return envpipe(in.schedule, in.network, Reconfigure::greedy); }},
        {"envpipe-greedy-90", "ENVPIPE, greedy by 90 MHz at a time as in its published code",
         [](In in, Request) -> Out { return envpipe(in.schedule, in.network, Reconfigure::greedy_steps); }},
        {"perseus", "Perseus as lowtime runs it: quantised time, fitted costs",
         [](In in, Request r) -> Out {
             return perseus(in.network, r.deadline, std::max<Nanoseconds>(1, to_nanoseconds(r.quantum)));
         }},
    };
    return rows;
}

Result<PlannerRow> find_planner(std::string_view name) {
    const auto found = std::ranges::find(planners(), name, &PlannerRow::name);
    if (found != planners().end()) return *found;
    std::string names;
    for (const PlannerRow& row : planners()) names += (names.empty() ? "" : ", ") + row.name;
    return fail(ErrorCode::invalid_argument, "choose one of: " + names, "no planner is called `{}`", name);
}

}  // namespace viridian::pipeline
