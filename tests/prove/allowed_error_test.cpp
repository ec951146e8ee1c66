#include "viridian/prove/allowed_error.hpp"

#include "viridian/plan/precision.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace viridian::prove {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::ValueId;

// `depth` functions one after another, all stored in this type.
Graph chain(ElementType type, int depth) {
    Graph graph;
    ValueId at = graph.add_input("x", {type, graph::Shape{4}});
    for (int i = 0; i < depth; ++i) {
        for (const char* op : {"Tanh", "Relu"}) {
            at = graph.add(op, {at});
            graph.set_type(at, {type, graph::Shape{4}});
        }
    }
    graph.set_outputs({at});
    return graph;
}

plan::Plan planned(const Graph& graph, ElementType stored,
                   plan::Algorithm algorithm = plan::Algorithm::reference) {
    plan::Plan plan;
    for (const graph::NodeId id : graph.nodes()) {
        plan::Choice choice;
        choice.kernel = "reference";
        choice.variant.algorithm = algorithm;
        choice.inputs = choice.outputs = {plan::Format{plan::plain(1), stored, {}}};
        plan.assignment.regions.push_back(
            {plan::make_region(graph, graph::uses(graph), {id}), std::move(choice)});
    }
    return plan;
}

double allowed(const Graph& graph, const plan::Plan& plan, std::optional<double> budget = std::nullopt) {
    return allowed_error(graph, graph, plan, budget).error;
}

TEST(AllowedError, TheWideBudgetIsForPlansThatRoundMoreThanTheModel) {
    const Graph exact = chain(ElementType::f32, 2);
    EXPECT_EQ(allowed(exact, planned(exact, ElementType::f32)), 1e-4);
    EXPECT_EQ(allowed(exact, planned(exact, ElementType::f32, plan::Algorithm::winograd)), 1e-3);
    EXPECT_EQ(allowed(exact, planned(exact, ElementType::bf16)), 2e-2);
    EXPECT_EQ(allowed(exact, planned(exact, ElementType::f32), 1e-6), 1e-6);
    EXPECT_EQ(allowed(exact, planned(exact, ElementType::f32), 0.5), 1e-4);
    EXPECT_EQ(allowed(exact, planned(exact, ElementType::bf16), 0.5), 0.5);

    const Graph half = chain(ElementType::f16, 9);
    const plan::Plan as_stored = planned(half, ElementType::f16);
    EXPECT_FALSE(plan::rounds(half, as_stored.assignment));
    EXPECT_TRUE(plan::rounds(half, planned(half, ElementType::bf16).assignment));
    // Nine roundings of 2^-11 on either side; Relu does not round.
    EXPECT_DOUBLE_EQ(allowed(half, as_stored), 2 * 3 * 0x1p-11);
    EXPECT_EQ(allowed_error(half, half, as_stored).because,
              "the model itself rounds 9 times on the way to an output");
    EXPECT_EQ(allowed(half, as_stored, 1e-3), 1e-3);
    const Graph deep = chain(ElementType::bf16, 100);
    EXPECT_EQ(allowed(deep, planned(deep, ElementType::bf16)), 2e-2);
}

TEST(AllowedError, OutputsThatNoComputedFloatReachesAreExact) {
    Graph graph;
    const auto add = [&](const char* op, ValueId input, ElementType type) {
        const ValueId value = graph.add(op, {input});
        graph.set_type(value, {type, graph::Shape{4}});
        return value;
    };
    const ValueId x = graph.add_input("x", {ElementType::f32, graph::Shape{4}});
    const ValueId y = add("Tanh", x, ElementType::f32);
    graph.set_outputs({y, add("Cast", x, ElementType::i64), add("Cast", y, ElementType::i64),
                       add("Shape", y, ElementType::i64),
                       add("Not", add("Cast", y, ElementType::boolean), ElementType::boolean)});
    EXPECT_EQ(exact_outputs(graph), (std::vector<bool>{false, true, false, true, false}));
}

}  // namespace
}  // namespace viridian::prove
