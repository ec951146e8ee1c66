#include "viridian/plan/region.hpp"

#include "viridian/base/json.hpp"

#include <gmock/gmock.h>

#include "viridian/graph/infer.hpp"
#include "viridian/plan/plan.hpp"

namespace viridian::plan {
namespace {

using graph::Graph;
using graph::ValueId;

struct Net {
    Graph graph;
    ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, 8, 4, 4})});
    ValueId convolved =
        graph.add("Conv", {x, graph.add_constant("w", graph::Tensor(graph::ElementType::f32, {8, 8, 1, 1}))},
                  {}, "conv");

    ValueId constant(float value) { return graph.add_constant("c", graph::Tensor::scalar(value)); }

    // Candidates of several nodes, their names joined.
    std::vector<std::string> chains(std::vector<ValueId> outputs) {
        graph.set_outputs(std::move(outputs));
        EXPECT_TRUE(graph::infer_types(graph).ok());
        std::vector<std::string> names;
        for (const Region& region : *chain_regions(graph)) {
            if (region.nodes.size() < 2) continue;
            EXPECT_EQ(region.outputs.size(), 1U);
            std::string name;
            for (const auto id : region.nodes) name += (name.empty() ? "" : " ") + graph.node(id).name;
            names.push_back(name);
        }
        return names;
    }
};

TEST(Gate, IsALinkOfAChain) {
    Net net;
    const ValueId gate = net.graph.add("Sigmoid", {net.convolved}, {}, "gate");
    const ValueId product = net.graph.add("Mul", {gate, net.convolved}, {}, "product");
    const ValueId sum = net.graph.add("Add", {product, net.x}, {}, "sum");
    EXPECT_THAT(net.chains({sum}),
                testing::UnorderedElementsAre("gate product", "product sum", "gate product sum",
                                              "conv gate product", "conv gate product sum"));
}

TEST(Gate, OfTwoSteps) {
    Net net;
    const ValueId scaled = net.graph.add("Mul", {net.convolved, net.constant(1.702F)}, {}, "scale");
    const ValueId gate = net.graph.add("Sigmoid", {scaled}, {}, "gate");
    const ValueId product = net.graph.add("Mul", {net.convolved, gate}, {}, "product");
    EXPECT_THAT(net.chains({product}), testing::Contains("conv scale gate product"));
}

TEST(Gate, ReadElsewhereIsNone) {
    const auto without = testing::Not(testing::Contains(testing::StartsWith("conv")));
    for (const bool of_gate : {true, false}) {
        Net net;
        const ValueId gate = net.graph.add("Sigmoid", {net.convolved}, {}, "gate");
        const ValueId product = net.graph.add("Mul", {net.convolved, gate}, {}, "product");
        const ValueId other = net.graph.add("Relu", {of_gate ? gate : net.convolved}, {}, "other");
        EXPECT_THAT(net.chains({product, other}), without);
    }
    Net net;
    const ValueId gate = net.graph.add("Sigmoid", {net.convolved}, {}, "gate");
    EXPECT_THAT(net.chains({net.graph.add("Mul", {net.convolved, gate}, {}, "product"), net.convolved}),
                without);
}

// Names as `chains` gives them. `read_elsewhere`: the probabilities are an output, too.
std::vector<std::string> chains_of_attention(bool masked, bool read_elsewhere, bool as_values) {
    Net net;
    Graph& graph = net.graph;
    const auto input = [&](const char* name) {
        return graph.add_input(name, {graph::ElementType::f32, graph::shape_of({2, 5, 5})});
    };
    ValueId scores = graph.add("MatMul", {input("q"), input("k")}, {}, "scores");
    if (masked)
        scores = graph.add("Add", {input("m"), graph.add("Mul", {scores, net.constant(2)}, {}, "scale")}, {},
                           "mask");
    const ValueId weights = graph.add("Softmax", {scores}, {}, "softmax");
    const ValueId v = input("v");
    const ValueId y = as_values ? graph.add("MatMul", {v, weights}, {}, "product")
                                : graph.add("MatMul", {weights, v}, {}, "product");
    return net.chains(read_elsewhere ? std::vector{y, weights} : std::vector{y});
}

TEST(Attention, IsOneCandidate) {
    EXPECT_THAT(chains_of_attention(false, false, false), testing::Contains("scores softmax product"));
    EXPECT_THAT(chains_of_attention(true, false, false),
                testing::Contains("scores scale mask softmax product"));
    const auto none = testing::Not(testing::Contains(testing::EndsWith("product")));
    EXPECT_THAT(chains_of_attention(true, true, false), none);
    EXPECT_THAT(chains_of_attention(true, false, true), none);
}

TEST(Gate, OtherProductsAreNone) {
    Net net;
    const ValueId gate = net.graph.add("Sigmoid", {net.convolved}, {}, "gate");
    EXPECT_THAT(net.chains({net.graph.add("Sub", {net.convolved, gate}, {}, "product")}),
                testing::Not(testing::Contains(testing::StartsWith("conv"))));
}

TEST(Gate, SidecarComesBack) {
    Net net;
    const ValueId gate = net.graph.add("Sigmoid", {net.convolved}, {}, "gate");
    net.graph.set_outputs({net.graph.add("Mul", {net.convolved, gate}, {}, "product")});
    ASSERT_TRUE(graph::infer_types(net.graph).ok());
    const Format format{plain(4), graph::ElementType::f32, {}};
    Choice choice;
    choice.kernel = "k";
    choice.inputs = choice.outputs = {format};
    Assignment assignment;
    assignment.solver = "first";
    assignment.regions = {
        {make_region(net.graph, graph::uses(net.graph), net.graph.nodes()), std::move(choice)}};
    const auto plan = make_plan(net.graph, std::move(assignment));
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    EXPECT_EQ(plan->steps.size(), 1U);
    const Json json = to_json(net.graph, *plan);
    const auto again = plan_from_json(net.graph, json);
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(to_json(net.graph, *again), json);
}

// A fused operator takes what its body takes: 2 · 4 · 8 · 3 of the product, and one for each of its elements.
TEST(Flop, OfBodiesCount) {
    const graph::TensorType x{graph::ElementType::f32, graph::shape_of({4, 8})};
    const auto product_of = [](graph::Graph& g, ValueId input) {
        const ValueId weights = g.add_constant("w", graph::Tensor(graph::ElementType::f32, {8, 3}));
        return g.add("Relu", {g.add("MatMul", {input, weights})});
    };
    graph::Graph body, g;
    body.set_outputs({product_of(body, body.add_input("x", x))});
    ASSERT_TRUE(graph::infer_types(body).ok());
    graph::Node node;
    node.op = graph::Operator("FusedProduct", "viridian");
    node.inputs = {g.add_input("x", x)};
    node.bodies = {std::make_shared<const graph::Graph>(body)};
    const graph::NodeId fused = g.add_node(std::move(node), 1);
    product_of(g, g.inputs()[0]);
    ASSERT_TRUE(graph::infer_types(g).ok());
    double apart = 0;
    for (const graph::NodeId id : g.nodes())
        if (id != fused) apart += flop(g, make_region(g, graph::uses(g), {id}));
    EXPECT_EQ(flop(g, make_region(g, graph::uses(g), {fused})), apart);
    EXPECT_EQ(apart, 2 * 4 * 8 * 3 + 4 * 3);
}

// Which dropout of the network it is changes no price.
TEST(Signature, LeavesOutWhatOnlyTellsNodesApart) {
    graph::Graph g;
    const ValueId number = g.add_input("n", {graph::ElementType::i64, graph::Shape{}});
    const ValueId ratio = g.add_constant("ratio", graph::Tensor::scalar(0.1F));
    const ValueId shape = g.add_constant("shape", graph::Tensor::i64({2}, graph::Dims{4, 8}));
    std::vector<std::string> signatures;
    for (const std::int64_t stream : {1, 2})
        g.add(graph::Operator("DropoutMask", "viridian"), {number, number, number, ratio, shape},
              {{"stream", stream}});
    ASSERT_TRUE(graph::infer_types(g).ok());
    for (const graph::NodeId id : g.nodes())
        signatures.push_back(signature(g, make_region(g, graph::uses(g), {id})));
    EXPECT_EQ(signatures[0], signatures[1]);
    EXPECT_EQ(signatures[0].find("stream"), std::string::npos) << signatures[0];
    EXPECT_NE(signatures[0].find("DropoutMask"), std::string::npos);
}

}  // namespace
}  // namespace viridian::plan
