#include "viridian/pipeline/planners/planners.hpp"

#include <algorithm>

#include "viridian/pipeline/exact/exact.hpp"

namespace viridian::pipeline {
namespace {

PlannerAnswer at(const Network& network, std::vector<int> level) {
    PlannerAnswer answer;
    answer.assignment = at_levels(network, std::move(level));
    return answer;
}

Result<PlannerAnswer> exact(const Network& network, const PlanRequest& request) {
    if (request.whole_clocks) return whole_clocks(network, request.deadline);
    VIRIDIAN_TRY(ExactPlan plan, exact_plan(network, request.deadline));
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
    static const std::vector<PlannerRow> rows = {
        {"exact", "the least energy by the deadline, proven (two clocks in turn where that is needed)",
         [](const Schedule&, const Network& n, const PlanRequest& r) -> Result<PlannerAnswer> {
             return exact(n, r);
         }},
        {"maximum", "every unit at its highest clock",
         [](const Schedule&, const Network& n, const PlanRequest&) -> Result<PlannerAnswer> {
             return at(n, maximum_levels(n));
         }},
        {"uniform", "every unit at the clock with its least energy",
         [](const Schedule&, const Network& n, const PlanRequest&) -> Result<PlannerAnswer> {
             return at(n, valley_levels(n));
         }},
        {"norecfg", "ENVPIPE without reconfiguration: full clocks on the envelope, least energy inside",
         [](const Schedule& s, const Network& n, const PlanRequest&) -> Result<PlannerAnswer> {
             return at(n, unreconfigured_levels(s, n));
         }},
        {"envpipe", "ENVPIPE, balanced",
         [](const Schedule& s, const Network& n, const PlanRequest&) -> Result<PlannerAnswer> {
             return envpipe(s, n, Reconfigure::balanced);
         }},
        {"envpipe-greedy", "ENVPIPE, greedy as in the paper",
         [](const Schedule& s, const Network& n, const PlanRequest&) -> Result<PlannerAnswer> {
             return envpipe(s, n, Reconfigure::greedy);
         }},
        {"envpipe-greedy-90", "ENVPIPE, greedy by 90 MHz at a time as in its published code",
         [](const Schedule& s, const Network& n, const PlanRequest&) -> Result<PlannerAnswer> {
             return envpipe(s, n, Reconfigure::greedy_steps);
         }},
        {"perseus", "Perseus as lowtime runs it: quantised time, fitted costs",
         [](const Schedule&, const Network& n, const PlanRequest& r) -> Result<PlannerAnswer> {
             return perseus(n, r.deadline, std::max<Nanoseconds>(1, to_nanoseconds(r.quantum)));
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
