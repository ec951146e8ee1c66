#include "viridian/pipeline/make_result.hpp"

#include <algorithm>

#include "viridian/pipeline/simulate.hpp"

namespace viridian::pipeline {
namespace {

void set_clock(PlannedUnit& out, const Curve& curve, const ClockAssignment& plan, std::size_t u) {
    if (curve.points.empty()) return;
    if (!plan.level.empty()) {
        out.clock = curve.points[at(plan.level[u])].clock;
        return;
    }
    const Nanoseconds time = plan.duration[u];
    const std::size_t j = curve.segment(time);
    const std::size_t next = std::min(j + 1, curve.point.size() - 1);
    const Point& slow = curve.points[at(curve.point[j])];
    const Point& fast = curve.points[at(curve.point[next])];
    out.clock = time <= curve.fastest() ? fast.clock : slow.clock;
    if (time >= curve.duration[j] || time <= curve.duration[next]) {
        if (time <= curve.duration[next]) out.clock = fast.clock;
        return;
    }
    // A share of the work at the slow clock, the rest at the fast one.
    const double share = static_cast<double>(time - curve.duration[next]) /
                         static_cast<double>(curve.duration[j] - curve.duration[next]);
    out.second_clock = fast.clock;
    out.second_after = slow.time * share;
}

}  // namespace

PlanResult make_plan_result(const Planned& planned, const PlannerAnswer& answer) {
    const auto& [schedule, profile, network, planner, end] = planned;
    const ClockAssignment& plan = answer.assignment;
    const Simulation simulation = simulate(network, plan, end);
    const std::vector<RankMemory> memory = memory_of(schedule, profile);
    PlanResult out;
    out.schedule = schedule.name;
    out.planner = planner;
    out.stages = schedule.stages;
    out.micro_batches = schedule.micro_batches;
    out.split_backward = schedule.split_backward;
    out.clocks_per_unit = plan.level.empty() ? 2 : 1;
    std::vector<std::uint8_t> critical(at(network.size()), 0);
    for (const int u : simulation.critical) critical[at(u)] = 1;
    std::size_t u = 0;
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
        RankResult& rank = out.ranks.emplace_back();
        const Bubbles& bubbles = simulation.bubbles[r];
        rank.busy = simulation.busy[r];
        rank.waiting = to_seconds(simulation.end) - rank.busy;
        rank.usable_bubbles = bubbles.usable;
        rank.unusable_bubbles = bubbles.unusable;
        rank.usable_time = bubbles.usable_time;
        rank.unusable_time = bubbles.unusable_time;
        rank.clock_switches = simulation.switches[r];
        rank.memory_peak = memory[r].peak;
        rank.memory_capacity = memory[r].capacity;
        rank.most_in_flight = memory[r].most_in_flight;
        rank.units.reserve(schedule.ranks[r].size());
        for (std::size_t i = 0; i < schedule.ranks[r].size(); ++i, ++u) {
            const Unit& unit = schedule.ranks[r][i];
            PlannedUnit one;
            one.stage = unit.stage;
            one.kind = name_of(unit.kind);
            one.micro_batch = unit.micro_batch;
            one.start = to_seconds(simulation.timing.start[u]);
            one.duration = to_seconds(plan.duration[u]);
            one.energy = unit_energy(network, plan, static_cast<int>(u));
            one.slack = to_seconds(simulation.slack[u]);
            one.critical = critical[u] != 0;
            one.overlapped = unit.overlapped;
            set_clock(one, network.curve(static_cast<int>(u)), plan, u);
            const Seconds when = unit.kind == Kind::forward ? one.start : one.start + one.duration;
            const Bytes held = memory[r].after[i] + memory[r].weights;
            if (rank.memory.empty() || rank.memory.back().second != held)
                rank.memory.emplace_back(when, held);
            rank.units.push_back(std::move(one));
        }
    }
    out.time = to_seconds(simulation.end);
    out.unit_energy = simulation.units;
    out.waiting_energy = simulation.waiting;
    out.energy = simulation.energy();
    const ClockAssignment maximum = at_levels(network, maximum_levels(network));
    const Nanoseconds maximum_end = evaluate(network, maximum.duration).makespan;
    out.maximum_time = to_seconds(maximum_end);
    out.maximum_energy = total_energy(network, maximum, maximum_end);
    out.iterations = answer.iterations;
    out.bound = answer.bound;
    out.exact = answer.exact;
    if (answer.certificate)
        out.certificate = {to_seconds(answer.certificate->time), to_text(answer.certificate->primal),
                           to_text(answer.certificate->dual), answer.certificate->proves_optimal()};
    out.provenance = profile.provenance;
    return out;
}

void add_switch_energy(const Profile& profile, PlanResult& plan) {
    for (const RankResult& rank : plan.ranks) {
        const Joules changes = profile.switch_energy * static_cast<double>(rank.clock_switches);
        plan.energy += changes;
        plan.unit_energy += changes;
    }
}

FrontierResult make_frontier_result(const Planned& planned, const ExactFrontier& frontier) {
    FrontierResult out;
    out.schedule = planned.schedule.name;
    out.stages = planned.schedule.stages;
    out.micro_batches = planned.schedule.micro_batches;
    out.certified = frontier.certified;
    out.provenance = planned.profile.provenance;
    const std::size_t cheapest = frontier.cheapest();
    for (std::size_t i = 0; i < frontier.points.size(); ++i)
        (i <= cheapest ? out.points : out.beyond)
            .push_back({to_seconds(frontier.points[i].time), frontier.energy(frontier.points[i])});
    return out;
}

}  // namespace viridian::pipeline
