#include "viridian/prove/f32_rounding.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "viridian/base/random.hpp"
#include "viridian/gradient/step.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/prove/proof.hpp"
#include "viridian/prove/training.hpp"

namespace viridian::prove {
namespace {

using graph::Graph;
using graph::Tensor;

// A step that takes the products of x with w and with -1.0001 w off a weight: their sum is small beside both.
Graph cancelling(std::int64_t size) {
    Random random(5);
    Tensor w(graph::ElementType::f32, {size, size}), minus(graph::ElementType::f32, {size, size});
    for (std::size_t i = 0; i < w.values<float>().size(); ++i) {
        w.mutable_values<float>()[i] = static_cast<float>(random.normal());
        minus.mutable_values<float>()[i] = -1.0001F * w.values<float>()[i];
    }
    Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({size, size})});
    const auto weight =
        graph.add_state("weight", Tensor(graph::ElementType::f32, {size, size}), graph::StateRole::parameter);
    const auto plus = graph.add("MatMul", {x, graph.add_constant("w", w)});
    const auto sum = graph.add("Add", {plus, graph.add("MatMul", {x, graph.add_constant("minus", minus)})});
    graph.set_outputs({graph.add("ArgMax", {sum}), plus});
    graph.set_after(weight, graph.add("Sub", {weight, sum}));
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

// x, and the weight before the step.
std::vector<Tensor> given(std::int64_t size) {
    Random random(6);
    Tensor x(graph::ElementType::f32, {size, size});
    for (float& value : x.mutable_values<float>()) value = static_cast<float>(random.normal());
    return {x, Tensor(graph::ElementType::f32, {size, size})};
}

// Answers with the outputs and the state that it was given.
class Fixed final : public execute::Executable {
  public:
    explicit Fixed(std::vector<Tensor> answer) : answer_(std::move(answer)) {}
    Result<void> run(std::span<const Tensor>, std::span<Tensor> outputs) override {
        std::ranges::copy(std::span(answer_).first(outputs.size()), outputs.begin());
        return {};
    }
    void record(trace::Recorder*) override {}
    Bytes memory() const override { return {}; }
    std::size_t state_count() const override { return 1; }
    Result<Tensor> state(std::size_t) const override { return answer_.back(); }
    Result<void> set_state(std::size_t, const Tensor&) override { return {}; }

  private:
    std::vector<Tensor> answer_;
};

TEST(F32Rounding, AllowsAStateWhatCancellationLosesAndNoMore) {
    const Graph graph = cancelling(64);
    const std::vector<std::vector<Tensor>> inputs = {given(64)};
    const std::vector<AllowedError> allowed = allowed_in_f32(graph, graph, inputs);
    ASSERT_EQ(allowed.size(), 3U);
    EXPECT_GT(allowed[2].error, 1e-4) << "the sum cancels";
    EXPECT_LT(allowed[2].error, most_allowed);

    const auto expected = reference_outputs(graph, inputs);
    ASSERT_TRUE(expected.ok());
    const auto passed = [&](std::size_t result, double error) {
        std::vector<Tensor> answer = expected->front();
        if (result == 0)
            answer[0].mutable_values<std::int64_t>()[0] += 1;
        else
            for (float& value : answer[result].mutable_values<float>())
                value *= 1 + static_cast<float>(error);
        Fixed fixed(answer);
        const auto proof = prove(graph, inputs, *expected, fixed, {1e-4, "f32"}, allowed);
        EXPECT_TRUE(proof.ok());
        return proof->passed();
    };
    EXPECT_TRUE(passed(2, 0.9 * allowed[2].error));
    EXPECT_FALSE(passed(2, 1.1 * allowed[2].error));
    EXPECT_TRUE(passed(1, 0.9e-4));
    EXPECT_FALSE(passed(1, 1.1e-4)) << "an output keeps its bound";
    EXPECT_FALSE(passed(0, 0)) << "an index is not off by a rounding";
}

// What f32 loses excuses no other network.
TEST(F32Rounding, NothingIsAllowedOfAGraphThatIsNotEqual) {
    const Graph graph = cancelling(64);
    Graph other = graph;
    const auto state = other.states()[0];
    const auto factor = other.add_constant("factor", Tensor::scalar(0.999F));
    other.set_after(state.before, other.add("Mul", {state.after, factor}));
    ASSERT_TRUE(infer_types(other).ok());
    EXPECT_TRUE(allowed_in_f32(graph, other, {given(64)}).empty());
}

// Weights of Adam may turn where a gradient has no certain sign; those of momentum follow their gradients.
TEST(F32Rounding, OnlyWeightsThatDivideGradientsAreAllowedTheMost) {
    using Kind = gradient::OptimizerKind;
    for (const bool adam : {false, true}) {
        Random random(7);
        Tensor w(graph::ElementType::f32, {6, 5});
        for (float& value : w.mutable_values<float>()) value = static_cast<float>(random.normal());
        Graph forward;
        const auto x = forward.add_input("x", {graph::ElementType::f32, graph::shape_of({4, 6})});
        const auto product = forward.add("MatMul", {x, forward.add_constant("w", w)});
        forward.set_outputs({forward.add("Tanh", {product}, {}, "y")});
        ASSERT_TRUE(infer_types(forward).ok());
        gradient::StepOptions options;
        options.optimizer = {.kind = adam ? Kind::adam : Kind::sgd, .momentum = adam ? 0 : 0.9};
        const auto step = gradient::training_step(forward, options);
        ASSERT_TRUE(step.ok()) << step.error().text();
        const Graph& graph = step->graph;
        const auto inputs = seeded_inputs(graph, 3);
        ASSERT_TRUE(inputs.ok());
        const std::vector<AllowedError> allowed = allowed_in_f32(graph, graph, {*inputs});
        ASSERT_EQ(allowed.size(), graph.outputs().size() + graph.states().size());
        int weights = 0;
        for (std::size_t i = 0; i < graph.states().size(); ++i) {
            weights += graph.states()[i].role == graph::StateRole::parameter ? 1 : 0;
            EXPECT_EQ(allowed[graph.outputs().size() + i].error == most_allowed,
                      divides_gradients(graph, graph.states()[i]));
            EXPECT_EQ(divides_gradients(graph, graph.states()[i]),
                      adam && graph.states()[i].role == graph::StateRole::parameter);
        }
        EXPECT_EQ(weights, 1);
    }
}

TEST(F32Rounding, NothingIsAllowedWhereItCannotBeTold) {
    const Graph graph = cancelling(8);
    EXPECT_TRUE(allowed_in_f32(graph, graph, {{}}).empty()) << "without inputs it does not run";
}

}  // namespace
}  // namespace viridian::prove
