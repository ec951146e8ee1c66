#include <gtest/gtest.h>

#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/row.hpp"
#include "viridian/graph/verify.hpp"

namespace viridian::graph {
namespace {

const TensorType number = {ElementType::f32, Shape{}};
const TensorType vector = {ElementType::f32, shape_of({1})};

std::shared_ptr<const Graph> shared(Graph graph) { return std::make_shared<const Graph>(std::move(graph)); }

std::vector<float> elements(const Tensor& tensor) {
    const auto values = tensor.values<float>();
    return {values.begin(), values.end()};
}

// x grows by itself while it is below the captured limit; every x is collected.
Graph doubling_loop() {
    Graph body;
    body.add_input("i", {ElementType::i64, Shape{}});
    body.add_input("going", {ElementType::boolean, Shape{}});
    const ValueId x = body.add_input("x", {ElementType::f32, std::nullopt});
    const ValueId grown = body.add_input("grown", {ElementType::f32, std::nullopt});
    const ValueId limit = body.add_input("limit", {ElementType::f32, std::nullopt});
    const ValueId twice = body.add("Add", {x, x});
    const ValueId longer = body.add("Concat", {grown, twice}, {{"axis", std::int64_t{0}}});
    const ValueId flat = body.add("Reshape", {twice, body.add_constant("scalar", Tensor::i64({0}, Dims{}))});
    const ValueId below = body.add(
        "Less", {flat, body.add("Reshape", {limit, body.add_constant("s", Tensor::i64({0}, Dims{}))})});
    body.set_outputs({below, twice, longer, twice});
    Graph graph;
    const ValueId start = graph.add_input("start", vector);
    const ValueId limit_value = graph.add_input("limit", vector);
    Node node;
    node.op = "Loop";
    node.inputs = {ValueId::none, ValueId::none, start, start, limit_value};
    node.attributes["captures"] = std::int64_t{1};
    node.bodies = {shared(body)};
    graph.set_outputs(graph.node(graph.add_node(node, 3)).outputs);
    return graph;
}

TEST(Control, LoopCollectsAndGrows) {
    Graph graph = doubling_loop();
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_TRUE(verify(graph).ok());
    EXPECT_EQ(text(graph.value(graph.outputs()[0]).type), "f32[1]");
    EXPECT_EQ(text(graph.value(graph.outputs()[1]).type), "f32[?]") << "a state that grows";
    EXPECT_EQ(text(graph.value(graph.outputs()[2]).type), "f32[?,1]");
    const std::vector<float> one = {1};
    const std::vector<float> five = {5};
    const auto outputs = evaluate(graph, {Tensor::f32({1}, one), Tensor::f32({1}, five)});
    ASSERT_TRUE(outputs.ok()) << outputs.error().text();
    EXPECT_EQ(elements((*outputs)[0]), (std::vector<float>{8}));
    EXPECT_EQ(elements((*outputs)[1]), (std::vector<float>{1, 2, 4, 8}));
    EXPECT_EQ((*outputs)[2].dims(), (Dims{3, 1}));
}

TEST(Control, LoopWithoutIterationsKeepsItsState) {
    Graph graph = doubling_loop();
    Node node = graph.node(NodeId{0});
    node.inputs[0] = graph.add_constant("M", Tensor::scalar(std::int64_t{0}));
    graph.set_node(NodeId{0}, node);
    ASSERT_TRUE(infer_types(graph).ok());
    const std::vector<float> one = {1};
    const auto outputs = evaluate(graph, {Tensor::f32({1}, one), Tensor::f32({1}, one)});
    ASSERT_TRUE(outputs.ok());
    EXPECT_EQ(elements((*outputs)[0]), (std::vector<float>{1}));
    EXPECT_EQ((*outputs)[2].dims(), (Dims{0, 1}));
}

TEST(Control, IfTakesOneBranchAndJoinsTheirShapes) {
    const auto branch = [](const char* op, Dims dims) {
        Graph body;
        const ValueId x = body.add_input("x", {ElementType::f32, std::nullopt});
        const Tensor other(ElementType::f32, std::move(dims));
        body.set_outputs({body.add(op, {x, body.add_constant("c", other)})});
        return shared(body);
    };
    Graph graph;
    const ValueId condition = graph.add_input("condition", {ElementType::boolean, Shape{}});
    const ValueId x = graph.add_input("x", vector);
    Node node;
    node.op = "If";
    node.inputs = {condition, x};
    node.bodies = {branch("Add", {1}), branch("Mul", {3})};
    graph.set_outputs(graph.node(graph.add_node(node)).outputs);
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_EQ(text(graph.value(graph.outputs()[0]).type), "f32[?]");
    const std::vector<float> seven = {7};
    for (const bool yes : {true, false}) {
        Tensor truth(ElementType::boolean, {});
        truth.mutable_values<std::int8_t>()[0] = yes ? 1 : 0;
        const auto outputs = evaluate(graph, {truth, Tensor::f32({1}, seven)});
        ASSERT_TRUE(outputs.ok());
        EXPECT_EQ(elements((*outputs)[0]), yes ? (std::vector<float>{7}) : (std::vector<float>{0, 0, 0}));
    }
}

TEST(Control, ScanBackwardsAlongTheLastAxis) {
    Graph body;
    const ValueId sum = body.add_input("sum", number);
    const ValueId x = body.add_input("x", number);
    const ValueId next = body.add("Add", {sum, x});
    body.set_outputs({next, next});
    Graph graph;
    const ValueId start = graph.add_input("start", number);
    const ValueId xs = graph.add_input("xs", {ElementType::f32, shape_of({3})});
    Node node;
    node.op = "Scan";
    node.inputs = {start, xs};
    node.attributes = {{"num_scan_inputs", std::int64_t{1}},
                       {"scan_input_axes", Dims{-1}},
                       {"scan_input_directions", Dims{1}},
                       {"scan_output_directions", Dims{1}}};
    node.bodies = {shared(body)};
    graph.set_outputs(graph.node(graph.add_node(node, 2)).outputs);
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_EQ(text(graph.value(graph.outputs()[1]).type), "f32[3]");
    const std::vector<float> values = {1, 2, 3};
    const auto outputs = evaluate(graph, {Tensor::scalar(10.0F), Tensor::f32({3}, values)});
    ASSERT_TRUE(outputs.ok());
    EXPECT_EQ(elements((*outputs)[0]), (std::vector<float>{16}));
    EXPECT_EQ(elements((*outputs)[1]), (std::vector<float>{16, 15, 13}));
}

TEST(Random, SameSeedSameNumbers) {
    const auto draw = [](double seed, std::int64_t counter) {
        Graph graph;
        const ValueId s = graph.add_constant("seed", Tensor::scalar(std::int64_t{3}));
        const ValueId c = graph.add_constant("counter", Tensor::scalar(counter));
        graph.set_outputs({graph.add("RandomNormal", {s, c}, {{"shape", Dims{1000}}, {"seed", seed}})});
        EXPECT_TRUE(infer_types(graph).ok());
        return elements((*evaluate(graph, {}))[0]);
    };
    EXPECT_EQ(draw(1, 0), draw(1, 0));
    EXPECT_NE(draw(1, 0), draw(1, 1));
    EXPECT_NE(draw(1, 0), draw(2, 0));
    double sum = 0;
    double square = 0;
    for (const float x : draw(1, 0)) {
        sum += x;
        square += static_cast<double>(x) * x;
    }
    EXPECT_NEAR(sum / 1000, 0, 0.15);
    EXPECT_NEAR(square / 1000, 1, 0.2);
}

TEST(OperatorTable, MissingInputsAreErrors) {
    for (const OperatorRow* row : all_operators()) {
        if (row->inputs.least == 0) continue;
        Graph graph;
        Node node;
        node.op = graph::Operator(std::string(row->name), std::string(row->domain));
        node.inputs.assign(static_cast<std::size_t>(row->inputs.least), ValueId::none);
        graph.set_outputs({graph.node(graph.add_node(node)).outputs[0]});
        EXPECT_FALSE(infer_types(graph).ok()) << row->name;
        EXPECT_FALSE(evaluate(graph, {}).ok()) << row->name;
    }
}

}  // namespace
}  // namespace viridian::graph
