// Values whose size is known only while the graph runs are refused before they are allocated.
#include "viridian/graph/reference/memory_budget.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "viridian/graph/data_flow.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::graph {
namespace {

constexpr std::int64_t mebi = 1 << 20;

std::int64_t peak_bytes() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss << 10;
}

Tensor integer_list(const Dims& values) {
    return Tensor::i64({static_cast<std::int64_t>(values.size())}, values);
}

// Runs `graph` with `memory` bytes. If it is refused, nothing large was allocated; sanitizers keep up to 256
// MiB of what was freed.
Result<std::vector<Tensor>> run_within(const Graph& graph, const std::vector<Tensor>& inputs,
                                       std::int64_t memory) {
    const std::int64_t before = peak_bytes();
    auto outputs = evaluate(graph, inputs, Bytes(memory));
    if (!outputs.ok()) {
        EXPECT_LT(peak_bytes(), before + 512 * mebi) << outputs.error().text();
    }
    return outputs;
}

// Expects that `graph` needs exactly `bytes` for its values whose shape is data.
void expect_need(const Graph& graph, const std::vector<Tensor>& inputs, std::int64_t bytes) {
    EXPECT_TRUE(run_within(graph, inputs, bytes).ok());
    const auto refused = run_within(graph, inputs, bytes - 1);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
    EXPECT_NE(refused.error().text().find("--memory leaves"), std::string::npos) << refused.error().text();
}

ValueId integer_input(Graph& graph, const char* name, std::int64_t count) {
    return graph.add_input(name, {ElementType::i64, shape_of({count})});
}

// A graph of one operator. Its last input is a list of integers that is known only in the run.
Graph shaped_by_data(const char* op, std::vector<ValueId> (*inputs)(Graph&), Attributes attributes = {}) {
    Graph graph;
    graph.set_outputs({graph.add(op, inputs(graph), std::move(attributes), "made")});
    EXPECT_TRUE(infer_types(graph).ok());
    EXPECT_FALSE(graph.value(graph.outputs()[0]).type.known()) << op;
    return graph;
}

TEST(MemoryBudget, ResultsWhoseShapeIsDataAreRefusedBeforeTheyAreAllocated) {
    const auto shape_alone = [](Graph& graph) { return std::vector{integer_input(graph, "n", 2)}; };
    const auto after_one = [](Graph& graph) {
        const ValueId x = graph.add_input("x", {ElementType::f32, shape_of({1, 1})});
        return std::vector{x, integer_input(graph, "n", 2)};
    };
    const auto after_three = [](Graph& graph) {
        const ValueId x = graph.add_input("x", {ElementType::f32, shape_of({1, 1})});
        return std::vector{x, ValueId::none, ValueId::none, integer_input(graph, "n", 2)};
    };
    const Tensor one = Tensor::f32({1, 1}, std::vector<float>{1});
    const Tensor huge = integer_list({1 << 15, 1 << 15});  // 4 GiB of floats
    const Graph made[] = {shaped_by_data("ConstantOfShape", shape_alone), shaped_by_data("Expand", after_one),
                          shaped_by_data("Tile", after_one),
                          shaped_by_data("Resize", after_three, {{"mode", std::string("nearest")}})};
    for (const Graph& graph : made) {
        std::vector<Tensor> inputs = {one, huge};
        if (graph.inputs().size() == 1) inputs = {huge};
        const auto refused = run_within(graph, inputs, 1024 * mebi);
        ASSERT_FALSE(refused.ok());
        EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
        EXPECT_EQ(refused.error().text(),
                  fmt::format("node `{0}` ({1}): its result takes 4.0 GiB, with which values whose size is "
                              "known only while the model runs need 4.0 GiB, and --memory leaves 1.0 GiB for "
                              "them. choose smaller sizes with --dim or --batch, or raise --memory.",
                              graph.node(graph.nodes()[0]).name, graph.node(graph.nodes()[0]).op));
        inputs.back() = integer_list({3, 4});
        expect_need(graph, inputs, 3 * 4 * 4);
    }
}

TEST(MemoryBudget, NonZeroAndRange) {
    Graph places;
    places.set_outputs(
        {places.add("NonZero", {places.add_input("x", {ElementType::f32, shape_of({2, 3})})})});
    ASSERT_TRUE(infer_types(places).ok());
    expect_need(places, {Tensor::f32({2, 3}, std::vector<float>{1, 0, 1, 1, 0, 1})}, 2 * 4 * 8);

    Graph range;
    std::vector<ValueId> bounds;
    for (const char* name : {"start", "end", "step"})
        bounds.push_back(range.add_input(name, {ElementType::f32, Shape{}}));
    range.set_outputs({range.add("Range", bounds)});
    ASSERT_TRUE(infer_types(range).ok());
    expect_need(range, {Tensor::scalar(0.0F), Tensor::scalar(10.0F), Tensor::scalar(1.0F)}, 10 * 4);
    EXPECT_FALSE(
        run_within(range, {Tensor::scalar(0.0F), Tensor::scalar(1e9F), Tensor::scalar(1.0F)}, 1024 * mebi)
            .ok());
}

// Of six values in a row two live at a time.
TEST(MemoryBudget, ValuesThatNobodyReadsAnyMoreAreGivenBack) {
    Graph graph;
    ValueId x = graph.add("ConstantOfShape", {integer_input(graph, "n", 1)});
    for (int i = 0; i < 5; ++i) x = graph.add("Relu", {x});
    graph.set_outputs({x});
    ASSERT_TRUE(infer_types(graph).ok());
    expect_need(graph, {integer_list({1000})}, 2 * 4000);
}

// x becomes as long again in every iteration, and every x is collected.
Graph growing_loop(bool collects) {
    Graph body;
    body.add_input("i", {ElementType::i64, Shape{}});
    const ValueId going = body.add_input("going", {ElementType::boolean, Shape{}});
    const ValueId x = body.add_input("x", {ElementType::f32, Shape(1)});
    if (collects)
        body.set_outputs({going, x, x});
    else
        body.set_outputs({going, body.add("Concat", {x, x}, {{"axis", std::int64_t{0}}})});
    Graph graph;
    Node node;
    node.op = "Loop";
    node.inputs = {graph.add_input("times", {ElementType::i64, Shape{}}), ValueId::none,
                   graph.add_input("start", {ElementType::f32, shape_of({1024})})};
    node.bodies = {std::make_shared<const Graph>(std::move(body))};
    graph.set_outputs(graph.node(graph.add_node(node, collects ? 2 : 1)).outputs);
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

TEST(MemoryBudget, LoopsThatGrowOrCollectAreRefused) {
    for (const bool collects : {false, true}) {
        const Graph loop = growing_loop(collects);
        const Tensor start(ElementType::f32, {1024});  // 4 KiB
        const auto times = [&](std::int64_t n) { return std::vector{Tensor::scalar(n), start}; };
        EXPECT_TRUE(run_within(loop, times(3), mebi).ok()) << collects;
        const auto refused = run_within(loop, times(collects ? 1 << 20 : 20), 16 * mebi);  // 4 GiB
        ASSERT_FALSE(refused.ok()) << collects;
        EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded) << refused.error().text();
        EXPECT_NE(refused.error().text().find("--memory leaves 16.0 MiB"), std::string::npos)
            << refused.error().text();
    }
}

// memory_need() does not look into bodies, whatever their types say.
TEST(MemoryBudget, BodiesCountWhole) {
    Graph branch;
    const ValueId wide =
        branch.add("ConstantOfShape", {branch.add_constant("n", integer_list({1 << 15, 1 << 15}))});
    branch.set_outputs({branch.add("ReduceMax", {wide}, {{"keepdims", std::int64_t{0}}})});
    ASSERT_TRUE(infer_types(branch).ok());
    EXPECT_TRUE(branch.value(wide).type.known());
    Graph graph;
    Node node;
    node.op = "If";
    node.inputs = {graph.add_input("yes", {ElementType::boolean, Shape{}})};
    Graph other;
    other.set_outputs({other.add("Relu", {other.add_constant("zero", Tensor::scalar(0.0F))})});
    node.bodies = {std::make_shared<const Graph>(branch), std::make_shared<const Graph>(other)};
    graph.set_outputs(graph.node(graph.add_node(node, 1)).outputs);
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_LT(memory_need(graph)->values.value, 100);
    Tensor yes(ElementType::boolean, {});
    yes.mutable_bytes()[0] = std::byte{1};
    EXPECT_FALSE(run_within(graph, {yes}, 1024 * mebi).ok());
    EXPECT_TRUE(run_within(graph, {Tensor(ElementType::boolean, {})}, 1024 * mebi).ok());
}

// Sizes that the graph tells are counted before the run, so that nothing is counted twice.
TEST(MemoryBudget, KnownSizesAreNotCounted) {
    Graph graph;
    graph.set_outputs({graph.add("Relu", {graph.add_input("x", {ElementType::f32, shape_of({64})})})});
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_TRUE(run_within(graph, {Tensor(ElementType::f32, {64})}, 0).ok());
}

// A graph may claim less than its values take.
TEST(MemoryBudget, WhatIsLargerThanTheGraphToldIsCounted) {
    Graph graph;
    const ValueId places = graph.add("NonZero", {graph.add_input("x", {ElementType::f32, shape_of({6})})});
    graph.set_type(places, {ElementType::i64, shape_of({1, 3})});
    graph.set_outputs({places});
    const auto zeros_but = [](std::size_t count) {
        std::vector<float> values(6, 0);
        std::fill_n(values.begin(), count, 1.0F);
        return Tensor::f32({6}, values);
    };
    EXPECT_TRUE(run_within(graph, {zeros_but(3)}, 0).ok());
    EXPECT_FALSE(run_within(graph, {zeros_but(4)}, 0).ok());
}

TEST(MemoryBudget, WithoutALimitThreeQuartersOfWhatIsFreeMayBeTaken) {
    MemoryBudget budget;
    EXPECT_TRUE(budget.check(Bytes(mebi)).ok());
    const auto refused = budget.check(Bytes(std::int64_t{1} << 50));
    ASSERT_FALSE(refused.ok()) << "does this machine have a pebibyte of memory?";
    EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
    EXPECT_NE(refused.error().text().find("three quarters of what was free"), std::string::npos);
}

}  // namespace
}  // namespace viridian::graph
