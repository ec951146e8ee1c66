// Kernels of the processor for private operators whose bodies are not those that the gradient rules build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/execute/every_choice.hpp"
#include "viridian/gradient/rule.hpp"
#include "viridian/gradient/term.hpp"

namespace viridian::train {
namespace {

using execute::assign, execute::distance, execute::f32, execute::random_tensor, execute::test_device;
using gradient::Builder, gradient::Term;
using graph::Dims, graph::ElementType, graph::Graph, graph::Tensor;
using Terms = std::vector<Term>;

// A graph of one private operator, whose inputs are those of the graph.
struct Called {
    Graph graph;
    Terms inputs;

    explicit Called(const std::vector<graph::TensorType>& types, graph::KnownOperator op,
                    const graph::Attributes& attributes, const gradient::Meaning& meaning) {
        Builder b(graph);
        for (const graph::TensorType& type : types) inputs.push_back(b.value(graph.add_input("x", type)));
        graph.set_outputs({b.call(op, inputs, attributes, meaning)[0].id});
        EXPECT_TRUE(infer_types(graph).ok());
    }
};

// Runs the first choice of every node on some of the device's threads.
Result<Tensor> run_on(execute::Device& device, int threads, const Graph& graph,
                      const std::vector<Tensor>& inputs, std::string& kernel) {
    VIRIDIAN_TRY(plan::Assignment assignment, assign(device, graph, execute::single_node_regions(graph), {}));
    for (plan::AssignedRegion& assigned : assignment.regions) assigned.choice.threads = threads;
    kernel = assignment.regions.back().choice.kernel;
    VIRIDIAN_TRY(const plan::Plan plan, plan::make_plan(graph, std::move(assignment)));
    VIRIDIAN_TRY(const auto executable, device.prepare(graph, plan));
    const graph::TensorType& type = graph.value(graph.outputs()[0]).type;
    std::vector<Tensor> outputs = {Tensor(type.element, type.dims())};
    for (int repeat = 0; repeat < 2; ++repeat) VIRIDIAN_TRY(executable->run(inputs, outputs));
    return outputs[0];
}

void expect_reference(const Graph& graph, const std::vector<Tensor>& inputs, const std::string& kernel,
                      double tolerance, int threads = 0) {
    const auto expected = graph::evaluate(graph, inputs);
    ASSERT_TRUE(expected.ok()) << expected.error().text();
    std::string used;
    const auto run = run_on(*test_device(2), threads, graph, inputs, used);
    ASSERT_TRUE(run.ok()) << run.error().text();
    EXPECT_EQ(used, kernel);
    EXPECT_LE(distance(*run, (*expected)[0]), tolerance);
}

TEST(KernelsOfBodies, PartsRunOnTheThreadsOfTheWhole) {
    Random random(1);
    const Called called({f32({256, 300}), f32({300, 270})}, gradient::op::SoftmaxGrad, {},
                        [](Builder& b, const Terms& in) -> Terms {
                            const Term product = b.add(graph::op::MatMul, {in[0], in[1]});
                            return {product * sum(product, {1})};
                        });
    const std::vector<Tensor> inputs = {random_tensor(random, {256, 300}), random_tensor(random, {300, 270})};
    for (const int threads : {1, 2}) expect_reference(called.graph, inputs, "composed", 1e-5, threads);
}

// Operands, results or both are in bf16; the smaller tensor runs on one thread, the larger on two.
TEST(KernelsOfBodies, ProgramsStoreInBf16) {
    Random random(3);
    const auto device = execute::bf16_device(2);
    for (const Dims& dims : {Dims{5, 400}, Dims{41, 400}}) {
        const Called called({f32(dims), f32(dims)}, gradient::op::GeluGrad, {},
                            [](Builder&, const Terms& in) -> Terms { return {in[0] * in[1] - in[0]}; });
        EXPECT_THAT(execute::check_region(*device, called.graph, random, 1e-6, 2.5e-3),
                    testing::ElementsAre("simd:fused", "simd:fused", "simd:fused"));
    }
}

// Both operands are the same tensor; its rows are widened once for each operand.
TEST(KernelsOfBodies, RowsOfOneTensorTwiceInBf16) {
    Random random(4);
    Graph graph;
    Builder b(graph);
    const Term y = b.value(graph.add_input("y", f32({40, 300})));
    const auto meaning = [](Builder&, const Terms& in) -> Terms {
        return {in[1] * (in[0] - sum(in[0] * in[1], {1}))};
    };
    graph.set_outputs({b.call(gradient::op::SoftmaxGrad, {y, y}, {}, meaning)[0].id});
    const auto kernels =
        execute::check_region(*execute::bf16_device(2), graph, random, 1e-5, 2.5e-3, "simd:fused");
    EXPECT_EQ(kernels.size(), 3U);
}

// Scratch that has three names is free only when all are read.
TEST(KernelsOfBodies, ChainsOfNamesKeepTheirScratch) {
    Random random(2);
    const Called called({f32({5, 400}), f32({5, 400})}, gradient::op::SoftmaxGrad, {},
                        [](Builder& b, const Terms& in) -> Terms {
                            const Term sum = in[0] + in[1];
                            const Term once = b.add(graph::op::Identity, {sum});
                            const Term twice = b.add(graph::op::Identity, {once});
                            return {twice * -in[0]};
                        });
    expect_reference(called.graph, {random_tensor(random, {5, 400}), random_tensor(random, {5, 400})},
                     "simd:fused", 0);
}

TEST(KernelsOfBodies, SingleNumbersKeepNan) {
    Random random(3);
    for (const auto op : {graph::op::Min, graph::op::Max})
        for (const bool first : {false, true}) {
            const Called called(
                {f32({70}), f32({})}, gradient::op::SoftmaxGrad, {},
                [=](Builder& b, const Terms& in) -> Terms {
                    const Term three = b.number(3, in[1]);
                    return {in[0] * (first ? b.add(op, {in[1], three}) : b.add(op, {three, in[1]}))};
                });
            expect_reference(called.graph, {random_tensor(random, {70}), Tensor::scalar(NAN)}, "simd:fused",
                             0);
        }
}

// The body of MaxPoolGrad: indices count through the whole tensor.
Called pool_gradient(const Dims& wide, const Dims& narrow) {
    return Called({f32(narrow), {ElementType::i64, graph::shape_of(narrow)}}, gradient::op::MaxPoolGrad, {},
                  [&](Builder& b, const Terms& in) -> Terms {
                      const Dims all = {*graph::element_count(wide)}, each = {*graph::element_count(narrow)};
                      const Term flat =
                          b.add(graph::op::ScatterElements,
                                {expand(b.number(0, in[0]), all), reshape(in[1], each), reshape(in[0], each)},
                                {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}});
                      return {reshape(flat, wide)};
                  });
}

TEST(KernelsOfBodies, PoolsAddToOtherPlanes) {
    Random random(4);
    const Called called = pool_gradient({1, 2, 3, 3}, {1, 2, 2, 2});
    const auto with = [&](std::int64_t last) {
        return std::vector<Tensor>{random_tensor(random, {1, 2, 2, 2}),
                                   Tensor::i64({1, 2, 2, 2}, Dims{0, 5, 17, -1, 0, 9, -18, last})};
    };
    expect_reference(called.graph, with(12), "simd:maxpool", 1e-6);
    for (const std::int64_t outside : {std::int64_t{18}, std::int64_t{-19}}) {
        std::string kernel;
        EXPECT_FALSE(graph::evaluate(called.graph, with(outside)).ok());
        EXPECT_FALSE(run_on(*test_device(2), 0, called.graph, with(outside), kernel).ok());
    }
}

// A window that lies wholly in the padding names element 0 of the first plane.
TEST(KernelsOfBodies, PoolsMayHaveWindowsInThePadding) {
    Random random(5);
    Graph graph;
    Builder b(graph);
    const Term x = b.value(graph.add_input("x", f32({1, 2, 3, 3})));
    const Terms pooled =
        b.add(graph::op::MaxPool, {x}, {{"kernel_shape", Dims{2, 2}}, {"pads", Dims{2, 2, 0, 0}}}, 2);
    const Dims narrow = b.dims(pooled[0]);
    const Term g = b.value(graph.add_input("g", f32(narrow)));
    const Called backward = pool_gradient({1, 2, 3, 3}, narrow);
    graph::Node node = backward.graph.node(backward.graph.nodes().front());
    node.inputs = {g.id, pooled[1].id};
    node.outputs.clear();
    node.outputs.resize(1, graph::ValueId::none);
    const graph::NodeId added = graph.add_node(std::move(node), 1);
    graph.set_outputs({graph.node(added).outputs[0]});
    ASSERT_TRUE(infer_types(graph).ok());
    expect_reference(graph, {random_tensor(random, {1, 2, 3, 3}), random_tensor(random, narrow)},
                     "simd:maxpool", 1e-6);
}

}  // namespace
}  // namespace viridian::train
