#include "tests/execute/every_choice.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

void make_positive(Tensor& variance) {
    for (float& value : variance.mutable_values<float>()) value = std::abs(value) + 0.1F;
}

// Scale, shift and mean are inputs, as in evaluations during training, or constants.
TEST(Normalization, OfBatchesByGivenStatisticsMatchesTheReference) {
    Random random(1);
    for (const int threads : {1, 3}) {
        const auto device = test_device(threads);
        for (int round = 0; round < 4; ++round)
            for (const Dims& dims : {Dims{2, 20, 30, 17}, Dims{3, 5, 4, 4}, Dims{1, 16, 9}, Dims{70, 40}})
                for (const bool constant : {false, true}) {
                    Graph graph;
                    const Dims channels = {dims[1]};
                    const auto parameter = [&](const char* name) {
                        return constant ? graph.add_constant(name, random_tensor(random, channels))
                                        : graph.add_input(name, f32(channels));
                    };
                    const ValueId variance = graph.add_input("variance", f32(channels));
                    const ValueId x = graph.add_input("x", f32(dims));
                    ValueId y =
                        graph.add("BatchNormalization",
                                  {x, parameter("scale"), parameter("shift"), parameter("mean"), variance},
                                  {{"epsilon", 0.01}});
                    switch (random.below(5)) {
                        case 0:
                            y = graph.add("Add", {y, graph.add_input("other", f32(dims))});
                            [[fallthrough]];
                        case 1:
                            y = graph.add("Relu", {y});
                            break;
                        case 2:  // padding that does not stay zero
                            y = graph.add("Sub", {graph.add_constant("one", Tensor::scalar(1.0F)), y});
                            break;
                        case 3:
                            y = graph.add("Mul", {graph.add_constant("all", random_tensor(random, dims)), y});
                            y = graph.add("Clip", {y, graph.add_constant("low", Tensor::scalar(-0.5F)),
                                                   graph.add_constant("high", Tensor::scalar(0.5F))});
                            break;
                        default:
                            break;
                    }
                    graph.set_outputs({y});
                    EXPECT_THAT(check_region(*device, graph, random, 1e-6, std::nullopt, "", make_positive),
                                testing::Contains("simd:batchnorm"));
                }
    }
}

// Files may ask for outputs that only training makes; the reference copies the statistics.
TEST(Normalization, OutputsThatAreStatisticsStayWithTheReference) {
    Random random(2);
    const auto device = test_device();
    Graph graph;
    graph::Node node;
    node.op = "BatchNormalization";
    for (const char* name : {"x", "scale", "shift", "mean", "variance"})
        node.inputs.push_back(graph.add_input(name, f32(node.inputs.empty() ? Dims{2, 4, 3} : Dims{4})));
    const std::vector<ValueId> outputs = graph.node(graph.add_node(node, 3)).outputs;
    graph.set_outputs({outputs[0], outputs[1]});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto choices = device->choices(graph, plan::make_region(graph, graph::uses(graph), graph.nodes()));
    ASSERT_TRUE(choices.ok());
    for (const plan::Choice& choice : *choices) EXPECT_EQ(choice.kernel, "reference");
}

}  // namespace
}  // namespace viridian::execute
