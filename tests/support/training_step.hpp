#pragma once
// A training step of a small network, written by hand with standard operators:
//
//     y = relu(x·W1 + b1)·W2,  loss = mean((y - target)²)
//
// W1 is trained with momentum, b1 and W2 without. `steps` counts the runs. W2 is read by the forward and by
// the backward pass, so its update has to wait for both.
#include "viridian/base/random.hpp"
#include "viridian/graph/graph.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::tests {

struct StepSizes {
    std::int64_t batch = 5, in = 7, hidden = 11, out = 3;
};

// Builds nodes of one phase after another.
class StepBuilder {
  public:
    graph::Graph graph;
    graph::Phase phase = graph::Phase::forward;

    graph::ValueId add(graph::Operator op, std::vector<graph::ValueId> inputs, std::string name,
                       std::string twin = {}, graph::Attributes attributes = {}) {
        graph::Node node;
        node.op = std::move(op);
        node.name = std::move(name);
        node.inputs = std::move(inputs);
        node.attributes = std::move(attributes);
        node.phase = phase;
        node.twin = std::move(twin);
        return graph.node(graph.add_node(std::move(node))).outputs[0];
    }
    graph::ValueId state(std::string name, graph::Dims dims, graph::StateRole role, std::uint64_t seed,
                         graph::ValueId of = graph::ValueId::none) {
        graph::Tensor first(graph::ElementType::f32, std::move(dims));
        Random random(seed);
        if (seed != 0)
            for (float& value : first.mutable_values<float>())
                value = 0.1F * static_cast<float>(random.between(-9, 9));
        return graph.add_state(std::move(name), std::move(first), role, of);
    }
};

// Returns the step. Inputs: x, target, rate. Outputs: loss. States: W1, b1, W2, W1.momentum, steps.
inline graph::Graph training_step(const StepSizes& sizes = {}) {
    using namespace graph;
    StepBuilder b;
    Graph& g = b.graph;
    g.name = "step";
    const auto f32 = [](const Dims& dims) { return TensorType{ElementType::f32, shape_of(dims)}; };
    const ValueId x = g.add_input("x", f32({sizes.batch, sizes.in}));
    const ValueId target = g.add_input("target", f32({sizes.batch, sizes.out}));
    const ValueId rate = g.add_input("rate", f32({}));
    const ValueId w1 = b.state("W1", {sizes.in, sizes.hidden}, StateRole::parameter, 1);
    const ValueId b1 = b.state("b1", {sizes.hidden}, StateRole::parameter, 2);
    const ValueId w2 = b.state("W2", {sizes.hidden, sizes.out}, StateRole::parameter, 3);
    const ValueId momentum = b.state("W1.momentum", {sizes.in, sizes.hidden}, StateRole::moment, 0, w1);
    const ValueId steps = g.add_state("steps", Tensor::scalar(std::int64_t{0}), StateRole::counter);

    const ValueId linear = b.add(op::MatMul, {x, w1}, "linear1");
    const ValueId shifted = b.add(op::Add, {linear, b1}, "bias1");
    const ValueId hidden = b.add(op::Relu, {shifted}, "relu");
    const ValueId y = b.add(op::MatMul, {hidden, w2}, "linear2");
    const ValueId error = b.add(op::Sub, {y, target}, "error");
    const ValueId square = b.add(op::Mul, {error, error}, "square");
    const ValueId loss = b.add(op::ReduceMean, {square}, "loss", {}, {{"keepdims", std::int64_t{0}}});

    b.phase = Phase::backward;
    const ValueId zero = g.add_constant("zero", Tensor::scalar(0.0F));
    const ValueId factor =
        g.add_constant("factor", Tensor::scalar(2.0F / static_cast<float>(sizes.batch * sizes.out)));
    const ValueId dy = b.add(op::Mul, {error, factor}, "dy", "square");
    const ValueId dhidden = b.add(op::Gemm, {dy, w2}, "dhidden", "linear2", {{"transB", std::int64_t{1}}});
    const ValueId positive = b.add(op::Greater, {shifted, zero}, "positive", "relu");
    const ValueId dlinear = b.add(op::Where, {positive, dhidden, zero}, "dlinear", "relu");

    b.phase = Phase::weight;
    const ValueId dw2 = b.add(op::Gemm, {hidden, dy}, "dW2", "linear2", {{"transA", std::int64_t{1}}});
    const ValueId dw1 = b.add(op::Gemm, {x, dlinear}, "dW1", "linear1", {{"transA", std::int64_t{1}}});
    const ValueId axes = g.add_constant("axes", Tensor::i64({1}, std::vector<std::int64_t>{0}));
    const ValueId db1 =
        b.add(op::ReduceSum, {dlinear, axes}, "db1", "bias1", {{"keepdims", std::int64_t{0}}});

    b.phase = Phase::update;
    const ValueId decay = g.add_constant("decay", Tensor::scalar(0.9F));
    const ValueId one = g.add_constant("one", Tensor::scalar(std::int64_t{1}));
    const auto descend = [&](ValueId state, ValueId along, const std::string& name, std::string twin) {
        const ValueId scaled = b.add(op::Mul, {along, rate}, name + ".step", twin);
        g.set_after(state, b.add(op::Sub, {state, scaled}, name + ".new", std::move(twin)));
    };
    descend(w2, dw2, "W2", "linear2");
    const ValueId kept = b.add(op::Mul, {momentum, decay}, "W1.momentum.kept", "linear1");
    const ValueId moved = b.add(op::Add, {kept, dw1}, "W1.momentum.new", "linear1");
    g.set_after(momentum, moved);
    descend(w1, moved, "W1", "linear1");
    descend(b1, db1, "b1", "bias1");
    g.set_after(steps, b.add(op::Add, {steps, one}, "steps.new"));
    g.set_outputs({loss});
    const auto typed = infer_types(g);
    invariant(typed.ok(), "a hand-written training step has types");
    return g;
}

// Returns inputs of the step: x and target are random, the rate is `rate`.
inline std::vector<graph::Tensor> step_inputs(std::uint64_t seed, const StepSizes& sizes = {},
                                              float rate = 0.05F) {
    Random random(seed);
    const auto drawn = [&](graph::Dims dims) {
        graph::Tensor tensor(graph::ElementType::f32, std::move(dims));
        for (float& value : tensor.mutable_values<float>())
            value = 0.25F * static_cast<float>(random.between(-8, 8));
        return tensor;
    };
    return {drawn({sizes.batch, sizes.in}), drawn({sizes.batch, sizes.out}), graph::Tensor::scalar(rate)};
}

// Returns the first values of the states of `graph`.
inline std::vector<graph::Tensor> first_values(const graph::Graph& graph) {
    std::vector<graph::Tensor> values;
    for (const graph::State& state : graph.states()) values.push_back(*graph.first_value(state.before));
    return values;
}

}  // namespace viridian::tests
