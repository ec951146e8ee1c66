#include "viridian/pipeline/planners/order_search.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/schedules/schedules.hpp"

namespace viridian::pipeline {
namespace {

// The time before a stage's first forward can begin, and after its last unit until the end, at fastest
// clocks.
struct Edges {
    Nanoseconds head = 0, tail = 0;
};
std::vector<Edges> stage_edges(const Profile& profile) {
    std::vector<Edges> edges(profile.stages.size());
    for (std::size_t s = 1; s < edges.size(); ++s) {
        const StageProfile& before = profile.stages[s - 1];
        edges[s].head = edges[s - 1].head + to_nanoseconds(before.of(Kind::forward).back().time);
        edges[s].tail = edges[s - 1].tail + to_nanoseconds(before.of(Kind::backward).back().time);
    }
    return edges;
}

}  // namespace

Joules any_order_bound(const Schedule& schedule, const Profile& profile, const Network& network,
                       Nanoseconds deadline) {
    const std::vector<Edges> edges = stage_edges(profile);
    Int128 total = 0;
    std::vector<std::int64_t> uses(network.curves.size(), 0);
    for (const std::int32_t c : network.curve_of) ++uses[at(c)];
    std::vector<std::vector<std::size_t>> of_rank(schedule.ranks.size());
    for (std::size_t c = 0; c < network.curves.size(); ++c) of_rank[at(network.rank_of[c])].push_back(c);
    for (std::size_t r = 0; r < of_rank.size(); ++r) {
        Edges least{std::numeric_limits<Nanoseconds>::max(), std::numeric_limits<Nanoseconds>::max()};
        bool weights = false;
        for (const Unit& unit : schedule.ranks[r]) {
            least.head = std::min(least.head, edges[at(unit.stage)].head);
            least.tail = std::min(least.tail, edges[at(unit.stage)].tail);
            weights = weights || unit.kind == Kind::weight || unit.kind == Kind::reduce;
        }
        if (schedule.ranks[r].empty()) continue;
        Int128 room = deadline - least.head - (weights ? 0 : least.tail);  // weight units may run last
        std::vector<std::pair<std::int64_t, Int128>> segments;  // slope, length of all units together
        for (const std::size_t c : of_rank[r]) {
            const Curve& curve = network.curves[c];
            room -= static_cast<Int128>(curve.fastest()) * uses[c];
            total += curve.cost(curve.fastest()) * uses[c];
            for (std::size_t j = 0; j < curve.slope.size(); ++j)
                segments.emplace_back(
                    curve.slope[j], static_cast<Int128>(curve.duration[j] - curve.duration[j + 1]) * uses[c]);
        }
        std::sort(segments.begin(), segments.end(),
                  [](const auto& a, const auto& b) { return a.first > b.first; });
        for (const auto& [slope, length] : segments) {
            if (room <= 0) break;
            const Int128 taken = std::min(room, length);
            total -= taken * slope;
            room -= taken;
        }
    }
    return to_joules(total) + network.total_wait() * to_seconds(deadline);
}

std::vector<int> deepest_warm_up(const Profile& profile, int micro_batches) {
    std::vector<int> deepest;
    for (const StageProfile& stage : profile.stages) {
        int fits = micro_batches;
        if (stage.memory.value > 0 && stage.activation.value > 0)
            fits = static_cast<int>(std::clamp<std::int64_t>(
                (stage.memory.value - stage.weights.value) / stage.activation.value, 1, micro_batches));
        deepest.push_back(std::min(fits, deepest.empty() ? micro_batches : deepest.back()));
    }
    return deepest;
}

Result<OrderSearch> search_order(const Profile& profile, int micro_batches, Nanoseconds deadline,
                                 int evaluations) {
    const int stages = profile.size();
    const std::vector<int> deepest = deepest_warm_up(profile, micro_batches);
    const auto fit = [&](std::vector<int> depth) {
        for (int s = 0; s < stages; ++s) depth[at(s)] = std::clamp(depth[at(s)], 1, deepest[at(s)]);
        for (int s = stages - 1; s-- > 0;)
            depth[at(s)] = std::min(deepest[at(s)], std::max(depth[at(s)], depth[at(s) + 1]));
        return depth;
    };
    std::vector<int> plain;
    for (int s = 0; s < stages; ++s) plain.push_back(std::min(micro_batches, stages - s));
    plain = fit(plain);
    const std::vector<int> advanced = fit(advance_depths(profile, micro_batches));

    const auto fastest = [&](const std::vector<int>& depth) -> Result<Nanoseconds> {
        VIRIDIAN_TRY(const Network network,
                     make_network(with_warm_up("searched", micro_batches, depth), profile));
        return evaluate(network, fastest_durations(network)).makespan;
    };
    if (deadline == 0) {
        VIRIDIAN_TRY(const Nanoseconds a, fastest(plain));
        VIRIDIAN_TRY(const Nanoseconds b, fastest(advanced));
        deadline = std::min(a, b);
    }
    OrderSearch best;
    std::set<std::vector<int>> seen;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const auto score = [&](const std::vector<int>& depth) -> Result<double> {
        seen.insert(depth);
        ++best.evaluations;
        VIRIDIAN_TRY(const Network network,
                     make_network(with_warm_up("searched", micro_batches, depth), profile));
        if (evaluate(network, fastest_durations(network)).makespan > deadline) return infinite;
        VIRIDIAN_TRY(const ExactPlan plan, exact_plan(network, deadline));
        return (to_joules(plan.certificate.primal) + network.total_wait() * to_seconds(deadline)).value;
    };
    VIRIDIAN_TRY(double energy, score(plain));
    best.first_energy = Joules(energy);
    best.depth = plain;
    if (seen.count(advanced) == 0) {
        VIRIDIAN_TRY(const double other, score(advanced));
        if (other < energy) energy = other, best.depth = advanced;
    }
    for (bool better = true; better && best.evaluations < evaluations;) {
        better = false;
        for (int s = 0; s < stages && best.evaluations < evaluations; ++s)
            for (const int step : {1, -1}) {
                std::vector<int> depth = best.depth;
                depth[at(s)] += step;
                if (depth[at(s)] < 1 || depth[at(s)] > deepest[at(s)]) continue;
                if (s > 0 && depth[at(s)] > depth[at(s) - 1]) continue;
                if (s + 1 < stages && depth[at(s)] < depth[at(s) + 1]) continue;
                if (seen.count(depth) > 0 || best.evaluations >= evaluations) continue;
                VIRIDIAN_TRY(const double other, score(depth));
                if (other < energy * (1 - 1e-12)) energy = other, best.depth = depth, better = true;
            }
    }
    best.schedule = with_warm_up("searched", micro_batches, best.depth);
    best.energy = Joules(energy);
    return best;
}

}  // namespace viridian::pipeline
