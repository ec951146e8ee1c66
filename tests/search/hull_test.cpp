#include "viridian/search/objective/hull.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "random_network.hpp"
#include "structures.hpp"
#include "tests/support/cases.hpp"
#include "viridian/search/objective/least_ratio.hpp"

namespace viridian::search {
namespace {

using tests::Network;

// Totals of every plan of a network without fusion and in-place choices: every choice of every node, with
// exactly the formats that are asked for.
std::vector<Metrics> every_plan(const Instance& instance) {
    std::vector<Metrics> all;
    std::vector<const Option*> chosen(instance.graph().node_slots());
    const std::function<void(std::size_t)> choose = [&](std::size_t n) {
        if (n < instance.nodes().size()) {
            const graph::NodeId id = instance.nodes()[n];
            for (const Option& option : instance.candidates()[instance.candidates_of(id)[0]].options) {
                chosen[index(id)] = &option;
                choose(n + 1);
            }
            return;
        }
        Metrics sum;
        for (const graph::NodeId id : instance.nodes()) sum += chosen[index(id)]->metrics;
        for (const Flow& flow : instance.flows()) {
            const FormatId from = flow.given ? *flow.given : chosen[index(flow.producer)]->outputs[0];
            Conversions::Set set = flow.demanded ? flow.conversions->bit(*flow.demanded) : 0;
            for (const graph::NodeId reader : flow.readers) {
                const auto& inputs = instance.candidates()[instance.candidates_of(reader)[0]].region.inputs;
                const auto at = std::find(inputs.begin(), inputs.end(), flow.value) - inputs.begin();
                set |= flow.conversions->bit(chosen[index(reader)]->inputs[static_cast<std::size_t>(at)]);
            }
            sum += flow.conversions->cost(from, set);
        }
        all.push_back(sum);
    };
    choose(0);
    return all;
}

Network small(std::uint64_t seed) {
    Random random(seed);
    Network net = tests::random_network(
        random, {.nodes = 6, .formats = 3, .choices = 4, .fusion = false, .in_place = false});
    // Trees are chosen by time: with joules in proportion, one format more than asked for never pays.
    for (auto& [formats, price] : net.conversions)
        price = tests::price(price.seconds.value, 0.8 * price.seconds.value);
    return net;
}

// One value that five nodes read, in up to four formats; conversions take little power.
Network star(std::uint64_t seed) {
    Random random(seed);
    Network net = tests::random_network(random, {.nodes = 1, .formats = 4, .choices = 4, .fusion = false});
    const graph::ValueId middle = net.graph.outputs()[0];
    std::vector<graph::ValueId> outputs;
    for (int reader = 0; reader < 5; ++reader) {
        outputs.push_back(net.graph.add("Relu", {middle}));
        net.graph.set_type(outputs.back(), net.graph.value(middle).type);
    }
    net.graph.set_outputs(outputs);
    const graph::Uses uses = graph::uses(net.graph);
    net.regions.clear();
    for (const graph::NodeId id : net.graph.nodes()) {
        net.regions.push_back(plan::make_region(net.graph, uses, {id}));
        net.choices[{id}].clear();
        for (const plan::Format& format : net.formats) {
            plan::Choice choice;
            choice.kernel = "reads " + text(format);
            choice.inputs = {format};
            choice.outputs = {net.formats[random.below(net.formats.size())]};
            net.choices[{id}].push_back(
                {choice, tests::price(random.uniform(0.3, 3), random.uniform(0.3, 3))});
        }
    }
    for (auto& [formats, price] : net.conversions)
        price = tests::price(price.seconds.value, 0.2 * price.seconds.value);
    return net;
}

void check(const std::string& text, std::uint64_t seeds, Network (*network)(std::uint64_t) = small) {
    const auto objective = parse_objective(text);
    ASSERT_TRUE(objective.ok());
    int solved = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const Network net = network(seed);
        const auto instance = Instance::make(net.graph, net.regions, net.source());
        ASSERT_TRUE(instance.ok());
        const auto found = solve(*instance, *objective);
        AssignOptions first, greedy;
        first.solver = &first_solver;
        greedy.solver = *find_solver("greedy");
        const Metrics start = solve(*instance, {}, first)->totals;
        for (const AssignOptions* other : {&first, &greedy}) {
            const auto baseline = solve(*instance, *objective, *other);
            if (!baseline.ok()) {
                EXPECT_TRUE(objective->limit) << baseline.error().text();
                continue;
            }
            EXPECT_TRUE(objective->within_limit(baseline->totals, start)) << "refused where it is not";
            ASSERT_TRUE(found.ok()) << text << ", seed " << seed << ": " << found.error().text();
            EXPECT_LE(found->assignment.value, baseline->assignment.value) << text << ", seed " << seed;
        }
        double truth = infinite;
        for (const Metrics& totals : every_plan(*instance))
            if (objective->within_limit(totals, start))
                truth = std::min(truth, objective->value(totals, start));
        if (!found.ok()) {
            EXPECT_EQ(truth, infinite) << text << ", seed " << seed << ": " << found.error().text();
            continue;
        }
        ++solved;
        const auto& assignment = found->assignment;
        EXPECT_TRUE(objective->within_limit(found->totals, start));
        EXPECT_NEAR(assignment.value, objective->value(found->totals, start), 1e-12);
        EXPECT_LE(assignment.bound, truth * (1 + 1e-9)) << text << ", seed " << seed;
        EXPECT_GE(assignment.value, truth * (1 - 1e-9)) << text << ", seed " << seed;
        EXPECT_LE(assignment.value, truth * (1 + 1e-9)) << text << ", seed " << seed;
        EXPECT_EQ(assignment.gap(), 0) << text << ", seed " << seed;
    }
    EXPECT_GT(solved, 0) << text;
}

TEST(Hull, products_are_solved_to_proof) {
    check("energy^0.5*time^0.5", 150);
    check("energy^0.8*time^0.2", 150);
}

TEST(Hull, least_power_is_solved_to_proof) {
    check("power", 300);
    check("power", 100, star);
    check("0.5*power+0.5*energy", 100, star);
}

TEST(Hull, limits_are_kept_and_solved_to_proof) {
    check("energy @ time<=1.02x", 600);
    check("energy @ time<=0.8x", 600);
    check("time @ energy<=0.9x", 600);
    check("power @ time<=1.1x", 300);
    check("energy @ power<=0.9x", 300);
    check("0.5*time+0.5*energy @ energy<=0.85x", 300);
    check("energy^0.5*time^0.5 @ time<=0.8x", 300);
}

TEST(Hull, mixes_with_power_are_solved_to_proof) {
    check("0.5*power+0.5*energy", 500);
    check("0.5*power+0.5*time", 500);
    check("0.2*power+0.8*time", 500);
    check("0.4*power+0.4*time+0.2*energy", 500);
    check("0.5*power+0.5*time @ energy<=0.9x", 300);
    check("0.5*power+0.5*energy @ time<=1.2x", 300);
}

TEST(Hull, no_plan_undercuts_the_least_ratio) {
    for (std::uint64_t seed = 0; seed < cases(200U); ++seed) {
        Network net = small(seed);
        const auto instance = Instance::make(net.graph, net.regions, net.source());
        ASSERT_TRUE(instance.ok());
        const double ratio = least_ratio(*instance, Metric::time, Metric::energy);
        EXPECT_GT(ratio, 0);
        for (const Metrics& totals : every_plan(*instance))
            EXPECT_GE(totals.joules.value, ratio * totals.seconds.value * (1 - 1e-9)) << "seed " << seed;
    }
}

// Cut short, least power is bounded by it.
TEST(Hull, without_time_power_is_bounded_by_the_least_ratio) {
    int open = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Random random(seed);
        const Network net =
            tests::random_network(random, {.nodes = 40, .formats = 6, .choices = 8, .fusion = false});
        const auto instance = Instance::make(net.graph, net.regions, net.source());
        ASSERT_TRUE(instance.ok());
        AssignOptions brief;
        brief.exact.time_limit = Seconds(0);
        const auto found = solve(*instance, *parse_objective("power"), brief);
        if (!found.ok()) continue;  // nothing was found in no time
        EXPECT_GE(found->assignment.bound, least_ratio(*instance, Metric::time, Metric::energy) * (1 - 1e-6));
        EXPECT_LE(found->assignment.bound, found->assignment.value);
        open += found->assignment.gap() > 0 ? 1 : 0;
    }
    EXPECT_GT(open, 10);
}

// Outer searches leave the last bit of a gap open; what they then say is true.
TEST(Hull, a_tolerance_leaves_a_true_bound_within_it) {
    int open = 0;
    for (const char* text : {"0.5*power+0.5*energy", "energy @ time<=0.8x", "energy^0.5*time^0.5"})
        for (std::uint64_t seed = 0; seed < cases(200U); ++seed) {
            const Objective objective = *parse_objective(text);
            const Network net = small(seed);
            const auto instance = Instance::make(net.graph, net.regions, net.source());
            ASSERT_TRUE(instance.ok());
            AssignOptions options;
            options.exact.tolerance = 0.05;
            const auto found = solve(*instance, objective, options);
            if (!found.ok()) continue;
            double truth = infinite;
            for (const Metrics& totals : every_plan(*instance))
                if (objective.within_limit(totals, found->start))
                    truth = std::min(truth, objective.value(totals, found->start));
            const plan::Assignment& assignment = found->assignment;
            EXPECT_LE(assignment.bound, truth * (1 + 1e-9)) << text << ", seed " << seed;
            EXPECT_GE(assignment.value, truth * (1 - 1e-9)) << text << ", seed " << seed;
            EXPECT_LE(assignment.gap(), 0.0501 * assignment.value) << text << ", seed " << seed;
            open += assignment.gap() > 0 ? 1 : 0;
        }
    EXPECT_GT(open, cases(50));
}

TEST(Frontier, holds_exactly_the_vertices_of_the_hull) {
    for (std::uint64_t seed = 0; seed < cases(200U); ++seed) {
        const Network net = small(seed);
        const auto instance = Instance::make(net.graph, net.regions, net.source());
        const auto found = frontier(*instance);
        ASSERT_TRUE(found.ok());
        EXPECT_EQ(found->unresolved, 0);
        const std::vector<Metrics> all = every_plan(*instance);
        for (std::size_t i = 0; i + 1 < found->vertices.size(); ++i) {
            const Metrics &a = found->vertices[i].totals, &b = found->vertices[i + 1].totals;
            EXPECT_LT(a.seconds, b.seconds);
            EXPECT_GT(a.joules, b.joules);
            const Weights across{(a.joules - b.joules).value, (b.seconds - a.seconds).value, 0, 0, 0};
            for (const Metrics& m : all) EXPECT_GE(across.of(m), across.of(a) * (1 - 1e-9));
        }
        for (const Metrics& m : all) {
            EXPECT_GE(m.seconds, found->vertices.front().totals.seconds * (1 - 1e-6));
            EXPECT_GE(m.joules, found->vertices.back().totals.joules * (1 - 1e-6));
        }
    }
}

TEST(Frontier, a_budget_leaves_a_known_rest) {
    const Network net = tests::resnet_like(8, {10, 3, 2}, 1);
    const auto instance = Instance::make(net.graph, net.regions, net.source());
    FrontierOptions few;
    few.most_vertices = 5;
    const auto rough = frontier(*instance, {}, few);
    ASSERT_TRUE(rough.ok());
    EXPECT_EQ(rough->vertices.size(), 5U);
    EXPECT_GT(rough->unresolved, 0);
    EXPECT_LT(rough->unresolved, 0.2);
}

Frontier frontier_of(const std::vector<std::pair<double, double>>& points, double unresolved) {
    Frontier out;
    out.unresolved = unresolved;
    for (const auto& [seconds, joules] : points) {
        Outcome& vertex = out.vertices.emplace_back();
        vertex.totals.seconds = Seconds(seconds);
        vertex.totals.joules = Joules(joules);
    }
    return out;
}

TEST(Frontier, of_two_sets_of_plans_keeps_what_no_mix_undercuts) {
    // (2, 6) lies above the line from (1, 9) to (3, 2); (4, 2) needs as much as (3, 2) and takes longer.
    const Frontier both =
        merged(frontier_of({{1, 9}, {2, 6}, {5, 1}}, 0), frontier_of({{1, 10}, {3, 2}, {4, 2}}, 0.5));
    std::vector<std::pair<double, double>> points;
    for (const Outcome& vertex : both.vertices)
        points.emplace_back(vertex.totals.seconds.value, vertex.totals.joules.value);
    EXPECT_EQ(points, (std::vector<std::pair<double, double>>{{1, 9}, {3, 2}, {5, 1}}));
    EXPECT_EQ(both.unresolved, 0.5);
    EXPECT_EQ(merged(frontier_of({{1, 1}}, 0), frontier_of({}, 0)).vertices.size(), 1U);
}

}  // namespace
}  // namespace viridian::search
