// The first value of a state is no constant: rules must not fold it.
#include <gtest/gtest.h>

#include "tests/support/training_step.hpp"
#include "tests/support/with_states.hpp"
#include "viridian/graph/verify.hpp"
#include "viridian/rewrite/certify/certify.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/rewrite/rules.hpp"

namespace viridian::rewrite {
namespace {

// compare() draws other values for the states than the first ones.
TEST(RewriteStates, EveryRulesInstancesWithStatesKeepOutputsAndNewValues) {
    int compared = 0, states = 0, applied = 0;
    for (const Rule& rule : rules())
        for (std::uint64_t seed = 1; seed <= 60; ++seed) {
            Random random(seed);
            const Graph instance = rule.instance(random, ElementType::f64);
            const auto graph = tests::with_states(instance, random);
            if (!graph) continue;
            Graph simple = *graph;
            const auto done = simplify(simple, {.without = {}, .verify = true});
            ASSERT_TRUE(done.ok()) << rule.name << " " << seed << ": " << done.error().text();
            ASSERT_EQ(simple.states().size(), graph->states().size()) << rule.name;
            const auto same = compare(*graph, simple, seed, 1e-9);
            EXPECT_TRUE(same.ok()) << rule.name << " " << seed << ": " << same.error().text();
            for (const graph::State& state : simple.states())
                EXPECT_NE(simple.first_value(state.before), nullptr) << rule.name;
            states += static_cast<int>(graph->states().size());
            applied += static_cast<int>(done->certificate.size());
            ++compared;
            const auto others = alternatives(*graph);
            ASSERT_TRUE(others.ok()) << rule.name << ": " << others.error().text();
            for (const Alternative& other : *others) {
                const auto equal = compare(*graph, other.graph, seed, 1e-9);
                EXPECT_TRUE(equal.ok()) << other.application.rule << ": " << equal.error().text();
            }
        }
    EXPECT_GT(compared, 100);
    EXPECT_GT(states, 150);
    EXPECT_GT(applied, 50);
}

TEST(RewriteStates, ATrainingStepIsStillOneAfterSimplification) {
    Graph step = tests::training_step();
    const Graph before = step;
    ASSERT_TRUE(simplify(step, {.without = {}, .verify = true}).ok());
    EXPECT_TRUE(compare(before, step, 3, 1e-6).ok());
    ASSERT_EQ(step.states().size(), 5U);
    EXPECT_EQ(step.states()[3].of, step.states()[0].before);
    EXPECT_EQ(step.states()[3].role, graph::StateRole::moment);
    int updates = 0;
    for (const NodeId id : step.nodes()) updates += step.node(id).phase == Phase::update ? 1 : 0;
    EXPECT_GE(updates, 5);
}

}  // namespace
}  // namespace viridian::rewrite
