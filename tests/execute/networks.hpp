#pragma once
// Small networks that together use most families of kernels, and their preparation from picked choices.
#include "tests/execute/every_choice.hpp"

namespace viridian::execute {

inline graph::ValueId convolution(graph::Graph& graph, graph::ValueId x, std::int64_t from, std::int64_t to,
                                  std::int64_t kernel, Random& random) {
    graph::Tensor weights = random_tensor(random, {to, from, kernel, kernel});
    for (float& w : weights.mutable_values<float>()) w *= 0.2F;
    const std::int64_t pad = kernel / 2;
    return graph.add("Conv", {x, graph.add_constant("w", weights)},
                     {{"pads", graph::Dims{pad, pad, pad, pad}}});
}

// A small network with branches, a concatenation, a residual, pooling and a classifier.
inline graph::Graph branched_network(Random& random) {
    graph::Graph graph;
    const graph::ValueId x = graph.add_input("image", f32({1, 3, 18, 18}));
    const graph::ValueId stem = graph.add("Relu", {convolution(graph, x, 3, 16, 3, random)});
    const graph::ValueId left = convolution(graph, stem, 16, 16, 1, random);
    const graph::ValueId right = convolution(graph, stem, 16, 32, 3, random);
    graph::ValueId y = graph.add("Concat", {left, right}, {{"axis", std::int64_t{1}}});
    y = graph.add("MaxPool", {y}, {{"kernel_shape", graph::Dims{2, 2}}, {"strides", graph::Dims{2, 2}}});
    const graph::ValueId skip = y;
    y = graph.add("Relu", {convolution(graph, y, 48, 48, 3, random)});
    y = graph.add("Add", {y, skip});
    y = graph.add("GlobalAveragePool", {y});
    y = graph.add("Flatten", {y});
    y = graph.add("Gemm", {y, graph.add_constant("fc", random_tensor(random, {10, 48}))},
                  {{"transB", std::int64_t{1}}});
    graph.set_outputs({graph.add("Softmax", {y})});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

// A matrix product, a normalisation of rows, gates and a softmax.
inline graph::Graph rows_network(Random& random) {
    graph::Graph graph;
    graph::ValueId x = graph.add_input("rows", f32({2, 24, 48}));
    const graph::ValueId skip = x;
    x = graph.add("MatMul", {x, graph.add_constant("w", random_tensor(random, {48, 96}))});
    x = graph.add("Mul", {x, graph.add("Sigmoid", {x})});
    x = graph.add("MatMul", {x, graph.add_constant("v", random_tensor(random, {96, 48}))});
    x = graph.add("Add", {x, skip});
    x = graph.add("LayerNormalization",
                  {x, graph.add_constant("s", random_tensor(random, {48})),
                   graph.add_constant("b", random_tensor(random, {48}))},
                  {{"axis", std::int64_t{-1}}, {"epsilon", 1e-5}});
    x = graph.add("Transpose", {x}, {{"perm", graph::Dims{0, 2, 1}}});
    graph.set_outputs({graph.add("Softmax", {x}, {{"axis", std::int64_t{-1}}})});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

// A bidirectional LSTM and a mean over its steps.
inline graph::Graph recurrent_network(Random& random) {
    graph::Graph graph;
    graph::Node node;
    node.op = "LSTM";
    node.name = "layer";
    node.inputs = {graph.add_input("x", f32({6, 2, 20})),
                   graph.add_constant("w", random_tensor(random, {2, 4 * 40, 20})),
                   graph.add_constant("r", random_tensor(random, {2, 4 * 40, 40}))};
    node.attributes["hidden_size"] = std::int64_t{40};
    node.attributes["direction"] = std::string("bidirectional");
    const graph::NodeId id = graph.add_node(node, 1);
    graph.set_outputs(
        {graph.add("ReduceMean",
                   {graph.node(id).outputs[0],
                    graph.add_constant("axes", graph::Tensor::i64({1}, std::vector<std::int64_t>{0}))},
                   {{"keepdims", std::int64_t{0}}})});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

struct Prepared {
    plan::Plan plan;
    std::unique_ptr<Executable> executable;
    std::vector<graph::Tensor> outputs;
};

inline Prepared prepare(Device& device, const graph::Graph& graph, const Pick& pick) {
    auto assignment = assign(device, graph, single_node_regions(graph), pick);
    EXPECT_TRUE(assignment.ok()) << assignment.error().text();
    auto plan = plan::make_plan(graph, *std::move(assignment));
    EXPECT_TRUE(plan.ok()) << plan.error().text();
    auto executable = device.prepare(graph, *plan);
    EXPECT_TRUE(executable.ok()) << executable.error().text();
    Prepared prepared{*std::move(plan), *std::move(executable), {}};
    for (const graph::ValueId id : graph.outputs())
        prepared.outputs.emplace_back(graph.value(id).type.element, graph.value(id).type.dims());
    return prepared;
}

inline Pick random_pick(Random& random) {
    return [&random](const auto&, const auto& choices) { return random.below(choices.size()); };
}

}  // namespace viridian::execute
