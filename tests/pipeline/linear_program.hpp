#pragma once
// The deadline problem as LEMON sees it: min Σ c_i(d_i) over potentials = max over flows. Each convex piece j
// is an arc of cost -duration[j] and capacity slope[j] - slope[j - 1]; the deadline is the price of the
// return arc. An independent oracle for the exact planner.
#include <gtest/gtest.h>
#include <lemon/list_graph.h>
#include <lemon/network_simplex.h>

#include "viridian/pipeline/network.hpp"

namespace viridian::pipeline::tests {

inline Network network_of(const Schedule& schedule, const Profile& profile) {
    Result<Network> network = make_network(schedule, profile);
    EXPECT_TRUE(network.ok()) << (network.ok() ? "" : network.error().text());
    return std::move(network).value();
}

// By linear programming duality: least cost = Σ slowest costs + max over circulations of
// Σ flow × (duration[j] of the piece) + Σ flow × delay - deadline × flow of the return arc ... with every
// piece's saved cost already in its length. Costs fit 64 bits only for small networks.
inline Int128 least_cost_by_lemon(const Network& network, Nanoseconds deadline) {
    using lemon::ListDigraph;
    ListDigraph graph;
    std::vector<ListDigraph::Node> start, finish;
    for (int u = 0; u < network.size(); ++u)
        start.push_back(graph.addNode()), finish.push_back(graph.addNode());
    const auto source = graph.addNode(), sink = graph.addNode();
    ListDigraph::ArcMap<std::int64_t> cost(graph), capacity(graph);
    constexpr std::int64_t unlimited = std::int64_t{1} << 60;
    const auto add = [&](auto from, auto to, std::int64_t length, std::int64_t room) {
        const auto arc = graph.addArc(from, to);
        cost[arc] = -length;
        capacity[arc] = room;
    };
    Int128 base = 0;
    for (int u = 0; u < network.size(); ++u) {
        const std::size_t i = static_cast<std::size_t>(u);
        const Curve& curve = network.curve(u);
        base += curve.slowest_cost;
        std::int64_t before = 0;
        for (std::size_t j = 0; j < curve.slope.size(); ++j) {
            add(start[i], finish[i], curve.duration[j], curve.slope[j] - before);
            before = curve.slope[j];
        }
        add(start[i], finish[i], curve.fastest(), unlimited);
        add(source, start[i], 0, unlimited);
        add(finish[i], sink, 0, unlimited);
        if (const int p = network.before(u); p >= 0)
            add(finish[static_cast<std::size_t>(p)], start[i], 0, unlimited);
        if (const auto d = network.dependency[i]; d >= 0)
            add(finish[static_cast<std::size_t>(d)], start[i], network.delay[i], unlimited);
    }
    // A flow larger than all slopes together never pays; the deadline at the fastest time would allow it.
    add(sink, source, -deadline, unlimited);
    lemon::NetworkSimplex<ListDigraph, std::int64_t, std::int64_t> simplex(graph);
    simplex.upperMap(capacity).costMap(cost);
    EXPECT_EQ(simplex.run(), simplex.OPTIMAL);
    return base - static_cast<Int128>(simplex.totalCost<long double>() +
                                      (simplex.totalCost<long double>() < 0 ? -0.5L : 0.5L));
}

}  // namespace viridian::pipeline::tests
