#include "viridian/prove/blame.hpp"

#include "tests/execute/every_choice.hpp"

namespace viridian::prove {
namespace {

using namespace execute;  // the kernels that the tests are about

using graph::Graph;
using graph::Tensor;
using graph::ValueId;

// y = (x·W + 1000) − 1000 + tiny branch: the sum of large numbers, stored in bf16, loses everything that the
// difference is about; the other product does no harm.
Graph cancelling(Random& random) {
    Graph graph;
    const ValueId x = graph.add_input("x", f32({4, 64}));
    const ValueId harmless = graph.add(
        "Relu",
        {graph.add("MatMul", {x, graph.add_constant("v", random_tensor(random, {64, 64}))}, {}, "harmless")});
    const ValueId product = graph.add(
        "MatMul", {harmless, graph.add_constant("w", random_tensor(random, {64, 64}))}, {}, "product");
    const ValueId large =
        graph.add("Add", {product, graph.add_constant("c", Tensor::f32({64}, std::vector<float>(64, 5000)))},
                  {}, "large");
    const ValueId back =
        graph.add("Mul", {large, graph.add_constant("one", Tensor::f32({64}, std::vector<float>(64, 0.5F)))},
                  {}, "half");
    const ValueId small = graph.add(
        "Sub", {back, graph.add_constant("d", Tensor::f32({64}, std::vector<float>(64, 2500)))}, {}, "small");
    graph.set_outputs({small});
    return graph;
}

// Everything in bf16 but products on a processor that does not multiply in it.
Result<plan::Plan> all_in_bf16(execute::Device& device, const Graph& graph) {
    VIRIDIAN_TRY(
        auto assignment,
        assign(device, graph, single_node_regions(graph), [&](const auto& region, const auto& choices) {
            for (std::size_t c = 0; c < choices.size(); ++c) {
                const bool all = std::ranges::all_of(
                                     choices[c].inputs,
                                     [](const auto& f) { return f.element == graph::ElementType::bf16; }) &&
                                 choices[c].outputs[0].element == graph::ElementType::bf16;
                if (all && choices[c].aliasing == plan::Aliasing::none) return c;
            }
            const auto& op = graph.node(region.nodes[0]).op;
            EXPECT_TRUE(op.name() == "MatMul" && !multiplies_bf16()) << op.name() << " is not in bf16";
            return std::size_t{0};
        }));
    return plan::make_plan(graph, std::move(assignment));
}

// Stores the first result of node `name` in bf16, and what else regions read and write first in f32.
auto assign_with_bf16_at(std::string_view name, execute::Device& device, const Graph& graph,
                         const std::vector<plan::Region>& regions) {
    return assign(device, graph, regions, [&](const auto& region, const auto& choices) {
        const auto element =
            graph.node(region.nodes[0]).name == name ? graph::ElementType::bf16 : graph::ElementType::f32;
        const auto fits = std::ranges::find_if(choices, [&](const plan::Choice& choice) {
            return choice.aliasing == plan::Aliasing::none && choice.outputs[0].element == element &&
                   choice.inputs[0].element == graph::ElementType::f32;
        });
        EXPECT_NE(fits, choices.end());
        return static_cast<std::size_t>(fits - choices.begin());
    });
}

TEST(Blame, FindsTheRegionWhoseRoundingALaterLayerMakesLarge) {
    const auto device = bf16_device();
    Random random(3);
    Graph graph = cancelling(random);
    ASSERT_TRUE(infer_types(graph).ok());
    const auto plan = all_in_bf16(*device, graph);
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    const auto inputs = random_inputs(graph, random);
    const auto blames = blame_rounding(*device, graph, *plan, {inputs});
    ASSERT_TRUE(blames.ok()) << blames.error().text();
    ASSERT_EQ(blames->size(), multiplies_bf16() ? 6U : 4U);
    // 5000 in bf16 has steps of 32, of 16 after the halving.
    EXPECT_THAT((std::vector<std::string>{(*blames)[0].node, (*blames)[1].node, (*blames)[2].node}),
                testing::UnorderedElementsAre("large", "half", "small"));
    EXPECT_GT((*blames)[2].error, 10 * (*blames)[3].error);
    for (const Blame& blame : *blames) {
        EXPECT_LT(blame.error, 2) << blame.node;
        if (blame.node == "large") {
            EXPECT_LT(blame.local, 0.01) << "its own error looks small: only what follows makes it large";
            EXPECT_FALSE(blame.tensor.empty());
        }
    }
    // The same again: nothing in it depends on time or order.
    const auto again = blame_rounding(*device, graph, *plan, {inputs});
    ASSERT_TRUE(again.ok());
    for (std::size_t i = 0; i < blames->size(); ++i) {
        EXPECT_EQ((*again)[i].node, (*blames)[i].node);
        EXPECT_EQ((*again)[i].error, (*blames)[i].error);
    }
}

// y = ((relu x + a) − a) + ((relu x + b) − b): one set of inputs has a large a, the other a large b.
TEST(Blame, TakesTheWorstOfAllSets) {
    const auto device = bf16_device();
    Random random(4);
    Graph graph;
    const ValueId x = graph.add("Relu", {graph.add_input("x", f32({4, 64}))}, {}, "relu");
    std::vector<ValueId> halves;
    for (const char* name : {"a", "b"}) {
        const ValueId large = graph.add_input(name, f32({4, 64}));
        halves.push_back(graph.add("Sub", {graph.add("Add", {x, large}, {}, name), large}));
    }
    graph.set_outputs({graph.add("Add", {halves[0], halves[1]}, {}, "both")});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto plan = all_in_bf16(*device, graph);
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    const Tensor small = random_tensor(random, {4, 64});
    const Tensor large = Tensor::f32({4, 64}, std::vector<float>(256, 5001));
    const std::vector<std::vector<Tensor>> sets = {{small, large, small}, {small, small, large}};
    const auto error_of = [&](const std::string& node, const std::vector<std::vector<Tensor>>& on) {
        const auto blames = blame_rounding(*device, graph, *plan, on);
        EXPECT_TRUE(blames.ok());
        return std::ranges::find(*blames, node, &Blame::node)->error;
    };
    EXPECT_GT(error_of("a", {sets[0]}), 0.5);
    EXPECT_LT(error_of("b", {sets[0]}), 0.01);
    EXPECT_EQ(error_of("a", sets), error_of("a", {sets[0]}));
    EXPECT_EQ(error_of("b", sets), error_of("b", {sets[1]}));
    EXPECT_GT(error_of("b", sets), 0.5);
}

// The gradient 3 g − (g + g + g) of the accumulator `zero` is noise, as that of a bias of keys before a
// softmax is. Rounding 3 g makes it a million times as large, and yet it is small beside what others collect.
TEST(Blame, AGradientThatIsZeroIsMeasuredByTheOthers) {
    const auto device = bf16_device();
    Random random(5);
    Graph graph;
    const ValueId g = graph.add("Relu", {graph.add_input("x", f32({4, 64}))}, {}, "g");
    const ValueId three = graph.add_constant("three", Tensor::f32({64}, std::vector<float>(64, 3)));
    const ValueId thrice = graph.add("Mul", {g, three}, {}, "thrice");
    const ValueId noise = graph.add("Sub", {thrice, graph.add("Add", {graph.add("Add", {g, g}), g})});
    for (const auto& [name, gradient] : {std::pair{"zero", noise}, std::pair{"sum", thrice}}) {
        const ValueId state =
            graph.add_state(name, Tensor(graph::ElementType::f32, {4, 64}), graph::StateRole::accumulator);
        graph.set_after(state, graph.add("Add", {state, gradient}));
    }
    graph.set_outputs({three});  // no region writes a constant output
    ASSERT_TRUE(infer_types(graph).ok());
    auto assignment = assign_with_bf16_at("thrice", *device, graph, single_node_regions(graph));
    ASSERT_TRUE(assignment.ok()) << assignment.error().text();
    const auto plan = plan::make_plan(graph, std::move(*assignment));
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    auto inputs = random_inputs(graph, random);
    inputs.resize(3, Tensor(graph::ElementType::f32, {4, 64}));  // the states before the step
    const auto blames = blame_rounding(*device, graph, *plan, {inputs});
    ASSERT_TRUE(blames.ok()) << blames.error().text();
    ASSERT_EQ(blames->size(), 1U);
    EXPECT_EQ((*blames)[0].node, "thrice");
    EXPECT_GT((*blames)[0].error, 1e-3);
    EXPECT_LT((*blames)[0].error, 1) << "by itself it would be above 1000";
}

// A residual connection and the normalisation that reads it are one region. A node between the two, in order
// of execution, reads the sum.
TEST(Blame, RunsWhatLiesBetweenTheNodesOfARegion) {
    const auto device = bf16_device();
    Random random(6);
    Graph graph;
    const ValueId sum =
        graph.add("Add", {graph.add_input("x", f32({4, 64})), graph.add_input("y", f32({4, 64}))}, {}, "sum");
    const ValueId between = graph.add("Relu", {sum}, {}, "between");
    const ValueId norm = graph.add("LayerNormalization",
                                   {sum, graph.add_constant("scale", random_tensor(random, {64})),
                                    graph.add_constant("bias", random_tensor(random, {64}))},
                                   {}, "norm");
    graph.set_outputs({graph.add("Mul", {between, norm}, {}, "product")});
    ASSERT_TRUE(infer_types(graph).ok());
    const std::vector<graph::NodeId> nodes = graph.nodes();
    std::vector<plan::Region> regions;
    for (const auto& of : {std::vector{nodes[0], nodes[2]}, std::vector{nodes[1]}, std::vector{nodes[3]}})
        regions.push_back(plan::make_region(graph, graph::uses(graph), of));
    auto assignment = assign_with_bf16_at("between", *device, graph, regions);
    ASSERT_TRUE(assignment.ok()) << assignment.error().text();
    const auto plan = plan::make_plan(graph, std::move(*assignment));
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    const auto blames = blame_rounding(*device, graph, *plan, {random_inputs(graph, random)});
    ASSERT_TRUE(blames.ok()) << blames.error().text();
    ASSERT_EQ(blames->size(), 1U);
    EXPECT_EQ((*blames)[0].node, "between");
    EXPECT_GT((*blames)[0].error, 1e-4);
    EXPECT_LT((*blames)[0].error, 1e-2);
}

}  // namespace
}  // namespace viridian::prove
