#include "viridian/pipeline/planners/tied.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/planners/order_search.hpp"
#include "viridian/pipeline/schedules/schedules.hpp"

namespace viridian::pipeline {
namespace {

constexpr int most_reduced_units = 1 << 14;

// Durations of a reduced pipeline's exact plan, its middle micro-batch standing for all those it lacks. Empty
// where the schedule is not one of those that can be built smaller, or even the small one is too large.
std::vector<Nanoseconds> tie(const Schedule& schedule, const Profile& profile, double slowdown) {
    const auto ranks = static_cast<std::int64_t>(schedule.ranks.size());
    const std::int64_t kinds_used = schedule.split_backward ? 3 : 2;
    std::int64_t few = 6 * ranks;
    few += few % 2;
    if (few >= schedule.micro_batches || few * schedule.stages * kinds_used > most_reduced_units) return {};
    const int chunks = static_cast<int>(schedule.stages / ranks);
    const Result<Schedule> small =
        make_schedule(schedule.name, profile, {.micro_batches = static_cast<int>(few), .chunks = chunks});
    if (!small.ok() || small->ranks.size() != schedule.ranks.size()) return {};
    const Result<Network> network = make_network(*small, profile);
    if (!network.ok()) return {};
    const Nanoseconds fastest = evaluate(*network, fastest_durations(*network)).makespan;
    const Result<ExactPlan> plan =
        exact_plan(*network, static_cast<Nanoseconds>(static_cast<double>(fastest) * slowdown));
    if (!plan.ok()) return {};

    std::vector<Nanoseconds> of(at(kinds_used * schedule.stages * few), 0);
    const auto slot = [&](const Unit& unit, std::int64_t m) -> Nanoseconds& {
        return of[at((static_cast<std::int64_t>(unit.kind) * schedule.stages + unit.stage) * few + m)];
    };
    std::size_t u = 0;
    for (const auto& rank : small->ranks)
        for (const Unit& unit : rank) {
            if (unit.kind != Kind::reduce) slot(unit, unit.micro_batch) = plan->duration[u];
            ++u;
        }
    std::vector<Nanoseconds> target;
    target.reserve(at(schedule.size()));
    const std::int64_t edge = few / 2;
    for (const auto& rank : schedule.ranks)
        for (const Unit& unit : rank) {
            std::int64_t m = unit.micro_batch;
            if (m >= edge) m = std::max(edge, m - (schedule.micro_batches - few));
            target.push_back(unit.kind == Kind::reduce ? to_nanoseconds(profile.all_reduce) : slot(unit, m));
        }
    return target;
}

Int128 cost_of(const Network& network, std::span<const Nanoseconds> duration) {
    Int128 total = 0;
    for (int u = 0; u < network.size(); ++u) total += network.curve(u).cost(duration[at(u)]);
    return total;
}

// Front to back, each unit as long as asked, as far as the latest finishes and its curve allow.
void lengthen(const Network& network, std::vector<Nanoseconds>& duration, Nanoseconds deadline,
              const auto& asked) {
    const std::vector<Nanoseconds> latest = latest_finish(network, duration, deadline);
    std::vector<Nanoseconds> finish(duration.size());
    for (const std::int32_t u : network.order) {
        Nanoseconds start = 0;
        if (const int p = network.before(u); p >= 0) start = finish[at(p)];
        if (const auto d = network.dependency[at(u)]; d >= 0)
            start = std::max(start, finish[at(d)] + network.delay[at(u)]);
        const Curve& curve = network.curve(u);
        duration[at(u)] =
            std::clamp(std::min(asked(u), latest[at(u)] - start), curve.fastest(), curve.slowest());
        finish[at(u)] = start + duration[at(u)];
    }
}

}  // namespace

std::vector<Nanoseconds> fill_forward(const Network& network, std::span<const Nanoseconds> target,
                                      Nanoseconds deadline) {
    std::vector<Nanoseconds> duration = fastest_durations(network);
    lengthen(network, duration, deadline, [&](std::int32_t u) { return target[at(u)]; });
    return duration;
}

void stretch(const Network& network, std::vector<Nanoseconds>& duration, Nanoseconds deadline) {
    lengthen(network, duration, deadline, [&](std::int32_t u) { return network.curve(u).slowest(); });
}

std::vector<Nanoseconds> share_slack(const Network& network, Nanoseconds deadline, int rounds) {
    std::vector<Nanoseconds> duration = fastest_durations(network);
    for (int round = 0; round < rounds; ++round) {
        const Timing timing = evaluate(network, duration);
        const std::vector<Nanoseconds> latest = latest_finish(network, duration, deadline);
        for (int u = 0; u < network.size(); ++u) {
            const Nanoseconds room = latest[at(u)] - timing.start[at(u)] - duration[at(u)];
            const Curve& curve = network.curve(u);
            if (room <= 0 || duration[at(u)] >= curve.slowest()) continue;
            const double share = static_cast<double>(duration[at(u)]) / static_cast<double>(deadline - room);
            duration[at(u)] =
                std::min(curve.slowest(),
                         duration[at(u)] + static_cast<Nanoseconds>(static_cast<double>(room) * share));
        }
    }
    return duration;
}

Result<PlannerAnswer> plan_tied(const Schedule& schedule, const Profile& profile, const Network& network,
                                Nanoseconds deadline) {
    const Nanoseconds fastest = evaluate(network, fastest_durations(network)).makespan;
    if (deadline == 0) deadline = fastest;
    if (deadline < fastest)
        return fail(ErrorCode::invalid_argument,
                    fmt::format("give {:.9g} s or more", to_seconds(fastest).value),
                    "no clocks end by {:.9g} s", to_seconds(deadline).value);
    PlannerAnswer answer;
    std::vector<Nanoseconds>& best = answer.assignment.duration;
    constexpr int rounds = 20;
    best = fill_forward(network, share_slack(network, deadline, rounds), deadline);
    stretch(network, best, deadline);
    const double slowdown = static_cast<double>(deadline) / static_cast<double>(fastest);
    if (const std::vector<Nanoseconds> tied = tie(schedule, profile, slowdown); !tied.empty()) {
        std::vector<Nanoseconds> other = fill_forward(network, tied, deadline);
        stretch(network, other, deadline);
        if (cost_of(network, other) < cost_of(network, best)) best = std::move(other);
    }
    answer.bound = any_order_bound(schedule, profile, network, deadline);
    return answer;
}

}  // namespace viridian::pipeline
