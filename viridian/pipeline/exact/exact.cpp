#include "viridian/pipeline/exact/exact.hpp"

#include <algorithm>
#include <limits>

namespace viridian::pipeline {
namespace {

Result<void> check_size(const Network& network) {
    if (network.size() > most_exact_units)
        return fail(ErrorCode::limit_exceeded, "plan it with --planner tied",
                    "{} units are too many to plan exactly", network.size());
    if (!Residual::fits(network))
        return fail(ErrorCode::limit_exceeded, "check the energies and times of the highest clocks",
                    "the energy per second of the highest clocks is too large to plan exactly");
    return {};
}

}  // namespace

Joules ExactFrontier::energy(const FrontierPoint& point) const {
    return to_joules(point.cost) + total_wait * to_seconds(point.time);
}

Joules ExactFrontier::energy_at(Nanoseconds time) const {
    if (time < points.front().time) return Joules(std::numeric_limits<double>::infinity());
    const auto next = std::upper_bound(points.begin(), points.end(), time,
                                       [](Nanoseconds t, const FrontierPoint& p) { return t < p.time; });
    FrontierPoint here = *(next - 1);
    if (next != points.end()) here.cost = next->cost + static_cast<Int128>(next->slope) * (next->time - time);
    here.time = time;
    return energy(here);
}

std::size_t ExactFrontier::cheapest() const {
    const auto wait = total_wait.value * 1e9;
    std::size_t best = 0;
    while (best + 1 < points.size() && static_cast<double>(points[best + 1].slope) > wait) ++best;
    return best;
}

Result<ExactFrontier> exact_frontier(const Network& network, bool certify_each) {
    VIRIDIAN_TRY(check_size(network));
    ExactFrontier frontier;
    frontier.total_wait = network.total_wait();
    ParametricFlow flow(network);
    FlowSolution solution;
    const auto record = [&](bool check) {
        frontier.points.push_back({flow.time(), flow.cost(), 0});
        if (!check) return;
        flow.solution(solution);
        const Certificate certificate = certify(network, solution);
        invariant(certificate.proves_optimal() && certificate.primal == flow.cost(),
                  "a frontier point's primal and dual costs agree");
        ++frontier.certified;
    };
    record(true);
    while (flow.advance()) {
        frontier.points.back().slope = flow.slope();
        record(certify_each);
    }
    if (!certify_each && frontier.points.size() > 1) {  // the fastest always is
        frontier.points.pop_back();
        record(true);
    }
    std::reverse(frontier.points.begin(), frontier.points.end());
    return frontier;
}

Result<ExactPlan> exact_plan(const Network& network, Nanoseconds deadline) {
    VIRIDIAN_TRY(check_size(network));
    ParametricFlow flow(network);
    while (flow.advance(deadline)) {
    }
    if (deadline > 0 && flow.time() > deadline)
        return fail(ErrorCode::invalid_argument,
                    fmt::format("give {:.9g} s or more", to_seconds(flow.time()).value),
                    "no clocks end by {:.9g} s", to_seconds(deadline).value);
    ExactPlan plan;
    plan.solution = flow.solution();
    plan.certificate = certify(network, plan.solution);
    invariant(plan.certificate.proves_optimal(), "a plan's primal and dual costs agree");
    plan.duration.resize(plan.solution.start.size());
    for (int u = 0; u < network.size(); ++u) {
        const auto i = static_cast<std::size_t>(u);
        plan.duration[i] =
            std::min(plan.solution.finish[i] - plan.solution.start[i], network.curve(u).slowest());
    }
    return plan;
}

Nanoseconds cheapest_time(const Network& network) {
    if (!check_size(network).ok()) return evaluate(network, slowest_durations(network)).makespan;
    ParametricFlow flow(network);
    const double wait = network.total_wait().value * 1e9;
    Nanoseconds best = flow.time();
    while (flow.advance()) {
        if (static_cast<double>(flow.slope()) > wait) break;
        best = flow.time();
    }
    return best;
}

}  // namespace viridian::pipeline
