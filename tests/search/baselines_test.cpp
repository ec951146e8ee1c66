#include "viridian/search/assign/baselines.hpp"

#include <gtest/gtest.h>

#include <array>

#include "random_network.hpp"
#include "tests/support/cases.hpp"
#include "viridian/search/assign/selection.hpp"

namespace viridian::search {
namespace {

using tests::Network;

void put_into_backward_part(graph::Graph& graph, graph::NodeId id) {
    graph::Node node = graph.node(id);
    node.phase = graph::Phase::backward;
    graph.set_node(id, node);
}

TEST(Baselines, are_valid_and_never_below_the_optimum) {
    int strictly_better = 0;
    for (std::uint64_t seed = 0; seed < cases(500U); ++seed) {
        Random random(seed);
        Network net = tests::random_network(
            random,
            {.nodes = 12, .formats = 3, .choices = 4, .fusion = seed % 2 == 0, .in_place = seed % 3 == 0});
        for (const graph::NodeId id : net.graph.nodes())
            if (index(id) >= seed % 13) put_into_backward_part(net.graph, id);
        const Objective objective;
        const Weights weights = objective.weights({});
        const auto instance = Instance::make(net.graph, net.regions, net.source());
        ASSERT_TRUE(instance.ok()) << instance.error().text();
        const auto exact = solve(*instance, objective);
        if (!exact.ok()) continue;  // only choices that clash
        EXPECT_NEAR(tests::price_of(net, exact->assignment, weights), exact->assignment.value, 1e-9);
        for (const SolverRow* solver : solvers()) {
            AssignOptions options;
            options.solver = solver;
            options.distance = 1 + seed % 2;
            const auto other = solve(*instance, objective, options);
            if (!other.ok()) {
                EXPECT_EQ(other.error().code, ErrorCode::unsupported);
                continue;
            }
            EXPECT_EQ(other->assignment.solver, solver->name);
            EXPECT_NEAR(tests::price_of(net, other->assignment, weights), other->assignment.value, 1e-9)
                << "seed " << seed << " " << solver->name;
            EXPECT_NEAR(other->totals.seconds.value, other->assignment.value, 1e-9);
            EXPECT_LE(other->assignment.cheapest_kernels.value(), other->assignment.value + 1e-9);
            EXPECT_GE(other->assignment.value, exact->assignment.value - 1e-9) << "seed " << seed;
            strictly_better += other->assignment.value > exact->assignment.value + 1e-9 ? 1 : 0;
        }
    }
    EXPECT_GT(strictly_better, cases(300));
}

// x → a → b → c → d → out, boundary nchw. `a` and `d` take either layout; `b` and `c` do nhwc faster, but
// changing one alone pays two conversions: EAGO's "d = 1 is sufficient for linear costs" holds only without
// conversions. `costs` are those of both kernels of each node.
struct ChainCosts {
    double plain, last;
};
Network chain(std::array<ChainCosts, 2> costs = {{{1.0, 0.5}, {1.0, 0.5}}}) {
    Network net;
    const graph::TensorType type{graph::ElementType::f32, graph::shape_of({1, 16, 4, 4})};
    net.formats = {{plan::plain(4), graph::ElementType::f32, {}},
                   {plan::channels_last(4), graph::ElementType::f32, {}}};
    graph::ValueId v = net.graph.add_input("x", type);
    for (const ChainCosts& cost : costs) {
        const graph::ValueId in = v;
        v = net.graph.add("Relu", {in});
        net.graph.set_type(v, type);
        const graph::NodeId id = net.graph.value(v).producer;
        net.regions.push_back({{id}, {in}, {}, {v}, {false}});
        const auto kernel = [](const char* name, const plan::Format& format, double price) {
            plan::Choice choice;
            choice.kernel = name;
            choice.inputs = choice.outputs = {format};
            return cost::PricedChoice{choice, tests::price(price, price)};
        };
        net.choices[{id}] = {kernel("plain", net.formats[0], cost.plain),
                             kernel("last", net.formats[1], cost.last)};
    }
    net.graph.set_outputs({v});
    for (const int from : {0, 1})
        net.conversions[{text(net.formats[static_cast<std::size_t>(from)]),
                         text(net.formats[static_cast<std::size_t>(1 - from)])}] = tests::price(0.4, 0.4);
    return net;
}

TEST(Greedy, distance_one_is_not_optimal_with_conversions) {
    const Network net = chain();
    const auto instance = Instance::make(net.graph, net.regions, net.source());
    ASSERT_TRUE(instance.ok());
    AssignOptions options;
    options.solver = *find_solver("greedy");
    options.distance = 1;
    EXPECT_DOUBLE_EQ(solve(*instance, Objective{}, options)->totals.seconds.value,
                     2.0);  // 0.5 + 1 + two conversions is worse
    options.distance = 2;
    EXPECT_DOUBLE_EQ(solve(*instance, Objective{}, options)->totals.seconds.value, 1.8);
    EXPECT_DOUBLE_EQ(solve(*instance, Objective{})->totals.seconds.value, 1.8);
}

TEST(Greedy, distance_one_is_optimal_without_conversions) {
    for (std::uint64_t seed = 0; seed < cases(200U); ++seed) {
        Random random(seed);
        const Network net = tests::random_network(
            random, {.nodes = 8, .formats = 1, .choices = 5, .fusion = false, .in_place = false});
        const auto instance = Instance::make(net.graph, net.regions, net.source());
        ASSERT_TRUE(instance.ok());
        AssignOptions options;
        options.solver = *find_solver("greedy");
        EXPECT_NEAR(solve(*instance, Objective{}, options)->totals.seconds.value,
                    solve(*instance, Objective{})->totals.seconds.value, 1e-12);
    }
}

// Under a mix with power any two regions may help each other, wherever they are.
TEST(Greedy, no_two_changes_are_left_that_help) {
    const Objective objective = *parse_objective("0.5*power+0.5*energy");
    int moved = 0;
    for (std::uint64_t seed = 0; seed < cases(200U); ++seed) {
        Random random(seed);
        const Network net = tests::random_network(
            random, {.nodes = 8, .formats = 3, .choices = 4, .fusion = false, .in_place = seed % 2 == 0});
        const auto instance = Instance::make(net.graph, net.regions, net.source());
        ASSERT_TRUE(instance.ok());
        const auto first = solve_first(*instance);
        const auto found = first.ok() ? solve_greedy(*instance, objective, first->totals, 2, {}) : first;
        if (!found.ok()) continue;  // only choices that clash
        const auto value = [&](const Metrics& totals) {
            return totals.possible() ? objective.value(totals, first->totals) : infinite;
        };
        Selection at(*instance, *single_cover(*instance));
        std::vector<Selection::Change> chosen;
        for (std::size_t r = 0; r < at.size(); ++r)
            for (std::size_t o = 0; o < at.candidate(r).options.size(); ++o)
                for (const plan::AssignedRegion& assigned : found->assignment.regions)
                    if (assigned.region.nodes == at.candidate(r).region.nodes &&
                        assigned.choice == at.candidate(r).options[o].choice)
                        chosen.push_back({r, o});
        moved += at.totals() == found->totals ? 0 : 1;
        at.apply(chosen);
        const double best = value(at.totals());
        EXPECT_NEAR(best, found->assignment.value, 1e-12) << "seed " << seed;
        for (std::size_t a = 0; a < at.size(); ++a)
            for (std::size_t b = a + 1; b < at.size(); ++b)
                for (std::size_t i = 0; i < at.candidate(a).options.size(); ++i)
                    for (std::size_t j = 0; j < at.candidate(b).options.size(); ++j) {
                        Selection other = at;
                        const Selection::Change changes[] = {{a, i}, {b, j}};
                        other.apply(changes);
                        EXPECT_GE(value(other.totals()), best - 1e-9) << "seed " << seed;
                    }
    }
    EXPECT_GT(moved, cases(100));
}

TEST(ShortestPath, is_optimal_on_chains) {
    const Network net = chain();
    const auto instance = Instance::make(net.graph, net.regions, net.source());
    ASSERT_TRUE(instance.ok());
    AssignOptions options;
    options.solver = *find_solver("shortest-path");
    EXPECT_DOUBLE_EQ(solve(*instance, Objective{}, options)->totals.seconds.value, 1.8);
}

// The first node is of the forward part, the second of the backward part. The output's conversion is on no
// path.
TEST(ShortestPath, of_one_part_lets_the_other_follow) {
    const auto cost = [](const char* solver, std::array<ChainCosts, 2> costs) {
        Network net = chain(costs);
        put_into_backward_part(net.graph, net.regions[1].nodes[0]);
        const auto instance = Instance::make(net.graph, net.regions, net.source());
        AssignOptions options;
        options.solver = *find_solver(solver);
        return solve(*instance, Objective{}, options)->totals.seconds.value;
    };
    // Two conversions pay only if the second node is looked at.
    constexpr std::array<ChainCosts, 2> second_gains = {{{1.0, 0.7}, {1.0, 0.3}}};
    EXPECT_DOUBLE_EQ(cost("shortest-path", second_gains), 0.4 + 0.7 + 0.3 + 0.4);
    EXPECT_DOUBLE_EQ(cost("shortest-path-forward", second_gains), 1.0 + 1.0);
    EXPECT_DOUBLE_EQ(cost("shortest-path-backward", second_gains), 0.4 + 0.7 + 0.3 + 0.4);
    // The second node gains a little, but the first would lose more.
    constexpr std::array<ChainCosts, 2> first_loses = {{{0.1, 1.0}, {0.9, 0.4}}};
    EXPECT_DOUBLE_EQ(cost("shortest-path", first_loses), 0.1 + 0.9);
    EXPECT_DOUBLE_EQ(cost("shortest-path-forward", first_loses), 0.1 + 0.9);
    EXPECT_DOUBLE_EQ(cost("shortest-path-backward", first_loses), 0.1 + 0.4 + 0.4 + 0.4);
}

TEST(Solve, tells_what_the_cheapest_kernels_cost_whatever_their_formats) {
    const Network net = chain({{{0.1, 1.0}, {0.9, 0.4}}});
    const auto instance = Instance::make(net.graph, net.regions, net.source());
    const auto exact = solve(*instance, Objective{});
    EXPECT_DOUBLE_EQ(exact->assignment.value, 0.1 + 0.9);
    EXPECT_DOUBLE_EQ(exact->assignment.cheapest_kernels.value(), 0.1 + 0.4);
}

TEST(Solvers, are_found_by_name) {
    for (const SolverRow* solver : solvers()) EXPECT_EQ(*find_solver(solver->name), solver);
    const auto missing = find_solver("best");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(missing.error().next_step, "choose " + solver_names());
}

TEST(Solvers, say_beforehand_what_they_cannot_minimise) {
    const auto can = [](const char* solver, const char* objective) {
        return (*find_solver(solver))->can(*parse_objective(objective)).ok();
    };
    EXPECT_FALSE(can("exact", "0.3*power+0.3*flop+0.4*kernels"));
    EXPECT_TRUE(can("exact", "0.3*time+0.3*flop+0.4*kernels"));
    EXPECT_TRUE(can("exact", "0.5*power+0.5*energy"));
    EXPECT_FALSE(can("shortest-path", "energy @ time<=1.1x"));
    EXPECT_TRUE(can("shortest-path", "0.5*time+0.5*energy"));
    EXPECT_TRUE(can("greedy", "0.3*power+0.3*flop+0.4*kernels"));
    EXPECT_TRUE(can("first", "power"));
}

}  // namespace
}  // namespace viridian::search
