// A step whose gradient is wrong by 1 % must not pass, though its weights agree.
#include "viridian/prove/training.hpp"

#include <gtest/gtest.h>

#include "tests/support/training_step.hpp"
#include "viridian/base/random.hpp"
#include "viridian/gradient/step.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/prove/proof.hpp"

namespace viridian::prove {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Tensor;
using graph::ValueId;
namespace op = graph::op;

Tensor random_floats(const graph::Dims& dims, Random& random) {
    Tensor tensor(graph::ElementType::f32, dims);
    for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.normal());
    return tensor;
}

// Two layers. The mean over the batch is taken off the first, so that the gradient of its bias is zero but
// for rounding.
Graph forward(const graph::Dims& bias_dims = {10}) {
    Random random(8);
    Graph graph;
    const ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({16, 6})});
    const ValueId a = graph.add_constant("a", random_floats({6, 10}, random));
    const ValueId bias = graph.add_constant("bias", random_floats(bias_dims, random));
    const ValueId c = graph.add_constant("c", random_floats({10, 3}, random));
    ValueId h = graph.add(op::Add, {graph.add(op::MatMul, {x, a}), bias});
    const ValueId axes = graph.add_constant("axes", Tensor::i64({1}, std::vector<std::int64_t>{0}));
    h = graph.add(op::Sub, {h, graph.add(op::ReduceMean, {h, axes})});
    graph.set_outputs({graph.add(op::MatMul, {graph.add(op::Tanh, {h}), c}, {}, "y")});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

struct Case {
    std::string name;
    gradient::OptimizerOptions optimizer;
};
std::vector<Case> cases() {
    using Kind = gradient::OptimizerKind;
    return {{"sgd", {.kind = Kind::sgd, .decay = 0.1}},
            {"momentum", {.kind = Kind::sgd, .momentum = 0.9, .decay = 0.1}},
            {"adam", {.kind = Kind::adam, .decay = 0.1}},
            {"adamw", {.kind = Kind::adamw, .decay = 0.1}},
            {"lamb", {.kind = Kind::lamb, .epsilon = 1e-6, .decay = 0.1}},
            {"rmsprop", {.kind = Kind::rmsprop}}};
}

Graph step_of(const Case& one) {
    gradient::StepOptions options;
    options.optimizer = one.optimizer;
    auto step = gradient::training_step(forward(), options);
    EXPECT_TRUE(step.ok()) << step.error().text();
    return step->graph;
}

// The step with the gradient of `name` multiplied by `factor`.
Graph with_gradient_times(Graph graph, const std::string& name, float factor) {
    for (const NodeId id : graph.nodes()) {
        Node node = graph.node(id);
        if (node.phase != graph::Phase::update || node.op.domain() != "viridian" ||
            graph.value(node.inputs[0]).name != name)
            continue;
        node.inputs[1] =
            graph.add(op::Mul, {node.inputs[1], graph.add_constant("wrong", Tensor::scalar(factor))});
        graph.set_node(id, std::move(node));
    }
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

std::vector<Tensor> values(const Graph& graph, const std::vector<Tensor>& given) {
    auto made = evaluate(graph, given);
    EXPECT_TRUE(made.ok()) << made.error().text();
    return made.ok() ? *made : std::vector<Tensor>();
}

// Answers what another graph computes on the reference kernels.
class Computes final : public execute::Executable {
  public:
    explicit Computes(Graph graph) : graph_(std::move(graph)) {
        for (const graph::State& state : graph_.states())
            states_.push_back(*graph_.first_value(state.before));
    }
    Result<void> run(std::span<const Tensor> inputs, std::span<Tensor> outputs) override {
        std::vector<Tensor> given(inputs.begin(), inputs.end());
        given.insert(given.end(), states_.begin(), states_.end());
        VIRIDIAN_TRY(const std::vector<Tensor> made, evaluate(graph_, given));
        std::copy_n(made.begin(), outputs.size(), outputs.begin());
        states_.assign(made.begin() + static_cast<std::ptrdiff_t>(outputs.size()), made.end());
        return {};
    }
    [[nodiscard]] std::size_t state_count() const override { return states_.size(); }
    [[nodiscard]] Result<Tensor> state(std::size_t i) const override { return states_[i]; }
    Result<void> set_state(std::size_t i, const Tensor& value) override {
        states_[i] = value;
        return {};
    }
    void record(trace::Recorder*) override {}
    [[nodiscard]] Bytes memory() const override { return {}; }

  private:
    Graph graph_;
    std::vector<Tensor> states_;
};

bool passes(const Graph& original, const Graph& other, const std::vector<Tensor>& given,
            const AllowedError& allowed = {.error = 1e-4, .because = "f32"}) {
    Computes executable(other);
    const auto proof = prove(original, {given}, {values(original, given)}, executable, allowed);
    EXPECT_TRUE(proof.ok()) << proof.error().text();
    return proof.ok() && proof->passed();
}

TEST(TrainingProof, AGradientThatIsWrongByOnePercentIsRefused) {
    for (const Case& one : cases()) {
        const Graph step = step_of(one);
        const auto given = seeded_inputs(step, 3);
        ASSERT_TRUE(given.ok());
        EXPECT_TRUE(passes(step, step, *given)) << one.name;
        for (const char* name : {"a", "c"}) {
            EXPECT_FALSE(passes(step, with_gradient_times(step, name, 1.01F), *given)) << one.name << name;
            EXPECT_TRUE(passes(step, with_gradient_times(step, name, 1.000001F), *given)) << one.name << name;
        }
    }
}

TEST(TrainingProof, AGradientInBf16MayBeOffByItsOwnAllowance) {
    const AllowedError allowed = {.error = 0.02, .because = "bf16", .of_gradients = 0.0447};
    for (const Case& one : cases()) {
        const Graph step = step_of(one);
        const auto given = seeded_inputs(step, 3);
        ASSERT_TRUE(given.ok());
        for (const char* name : {"a", "c"}) {
            EXPECT_TRUE(passes(step, with_gradient_times(step, name, 1.02F), *given, allowed)) << one.name;
            EXPECT_FALSE(passes(step, with_gradient_times(step, name, 1.06F), *given, allowed)) << one.name;
            EXPECT_FALSE(passes(step, with_gradient_times(step, name, -1.0F), *given, allowed)) << one.name;
        }
    }
}

// With the small rate of real training the new weights agree to all the digits that a proof of outputs asks
// for.
TEST(TrainingProof, TheNewWeightsAgreeWhateverTheGradient) {
    for (const Case& one : cases()) {
        const Graph step = step_of(one), wrong = with_gradient_times(step, "a", 1.01F);
        auto given = seeded_inputs(step, 3);
        ASSERT_TRUE(given.ok());
        for (std::size_t i = 0; i < step.inputs().size(); ++i)
            if (step.value(step.inputs()[i]).name == gradient::rate_input)
                (*given)[i] = Tensor::scalar(1e-3F);
        const std::vector<Tensor> right = values(step, *given), found = values(wrong, *given);
        const std::size_t outputs = step.outputs().size();
        for (std::size_t i = 0; i < step.states().size(); ++i)
            if (step.states()[i].role == graph::StateRole::parameter) {
                EXPECT_LE(relative_error(found[outputs + i], right[outputs + i]), 1e-4) << one.name;
            }
        EXPECT_FALSE(passes(step, wrong, *given)) << one.name;
    }
}

// The gradient of the bias is zero but for rounding, so any rounding of it passes.
TEST(TrainingProof, RoundingInPlaceOfAGradientIsNoDifference) {
    for (const Case& one : cases()) {
        const Graph step = step_of(one);
        const auto given = seeded_inputs(step, 3);
        ASSERT_TRUE(given.ok());
        EXPECT_TRUE(passes(step, with_gradient_times(step, "bias", -1.0F), *given)) << one.name;
    }
}

// Gradients that are outputs: any rounding passes for the bias, but nothing as large as other gradients, and
// an error of 1 % is refused for the others. The gradient of a parameter has no best class.
TEST(TrainingProof, GradientsThatAreOutputsAreMeasuredAgainstTypicalOnes) {
    gradient::StepOptions options;
    options.optimizer.kind = gradient::OptimizerKind::none;
    options.gradient_outputs = options.input_gradients = true;
    const auto made = gradient::training_step(forward({1, 10}), options);
    ASSERT_TRUE(made.ok()) << made.error().text();
    const Graph& step = made->graph;
    const auto given = seeded_inputs(step, 3);
    ASSERT_TRUE(given.ok());
    const std::vector<Tensor> right = values(step, *given);
    const auto passes_with = [&](std::size_t output, const auto& operation, float by) {
        Graph other = step;
        std::vector<ValueId> outputs = other.outputs();
        const ValueId constant = other.add_constant("wrong", Tensor::scalar(by));
        outputs[output] = other.add(operation, {outputs[output], constant});
        other.set_outputs(outputs);
        EXPECT_TRUE(infer_types(other).ok());
        return passes(step, other, *given);
    };
    double squares = 0, count = 0;
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < step.outputs().size(); ++i) {
        const std::string& name = step.value(step.outputs()[i]).name;
        if (!name.ends_with(".gradient")) continue;
        seen.push_back(name);
        if (name != "bias.gradient") {
            EXPECT_FALSE(passes_with(i, op::Mul, 1.01F)) << name;
            EXPECT_TRUE(passes_with(i, op::Mul, 1.000001F)) << name;
        }
        if (name == "x.gradient") continue;
        for (std::int64_t k = 0; k < right[i].count(); ++k) squares += std::pow(right[i].number(k), 2);
        count += static_cast<double>(right[i].count());
    }
    std::ranges::sort(seen);
    EXPECT_EQ(seen, (std::vector<std::string>{"a.gradient", "bias.gradient", "c.gradient", "x.gradient"}));
    const double typical = std::sqrt(squares / count);
    for (std::size_t i = 0; i < step.outputs().size(); ++i) {
        if (step.value(step.outputs()[i]).name != "bias.gradient") continue;
        std::vector<Tensor> found = right;
        for (float& value : found[i].mutable_values<float>()) value *= -1;
        EXPECT_GT(relative_error(found[i], right[i]), 1);
        EXPECT_TRUE(passes_with(i, op::Mul, -1.0F));
        EXPECT_FALSE(passes_with(i, op::Add, static_cast<float>(typical / 1000)));
        for (float& value : found[i].mutable_values<float>()) value = static_cast<float>(typical);
        const auto errors = result_errors(step, *given, right, found);
        ASSERT_TRUE(errors.ok());
        EXPECT_NEAR((*errors)[i].error, 100, 1);
    }
}

// Adam's weights whose gradient is zero are not compared closely, and yet not free.
TEST(TrainingProof, WeightsWithoutGradientMayNotBeAnything) {
    const Case adam = cases()[2];
    const Graph step = step_of(adam);
    const auto given = seeded_inputs(step, 3);
    ASSERT_TRUE(given.ok());
    const std::vector<Tensor> right = values(step, *given);
    const std::size_t outputs = step.outputs().size();
    for (std::size_t i = 0; i < step.states().size(); ++i) {
        const graph::State& state = step.states()[i];
        if (state.role != graph::StateRole::parameter || step.value(state.before).name != "bias") continue;
        std::vector<Tensor> found = right;
        found[outputs + i].mutable_values<float>()[0] += 1e3F;
        const auto errors = result_errors(step, *given, right, found);
        ASSERT_TRUE(errors.ok());
        EXPECT_GT((*errors)[outputs + i].error, 1);
        return;
    }
    FAIL() << "no bias";
}

// Where both sides hold NaN, or both the same infinity, they agree. A difference in another element is found
// all the same.
TEST(TrainingProof, ResultsThatAreNoNumbersAgreeAndHideNothing) {
    const Graph step = tests::training_step();
    std::vector<Tensor> given = tests::step_inputs(4);
    for (const Tensor& first : tests::first_values(step)) given.push_back(first);
    std::vector<Tensor> right = values(step, given);
    const std::size_t weights = step.outputs().size();
    for (const float odd :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        right[weights].mutable_values<float>()[0] = odd;
        const auto same = result_errors(step, given, right, right);
        ASSERT_TRUE(same.ok());
        EXPECT_EQ((*same)[weights].error, 0);
        std::vector<Tensor> found = right;
        found[weights].mutable_values<float>()[1] += 1;
        const auto other = result_errors(step, given, right, found);
        ASSERT_TRUE(other.ok());
        EXPECT_GT((*other)[weights].error, 0.1);
    }
}

TEST(TrainingProof, UpdatesOfOtherWritersAreComparedByWhatTheyAdd) {
    const Graph step = tests::training_step();
    std::vector<Tensor> given = tests::step_inputs(4);
    for (const Tensor& first : tests::first_values(step)) given.push_back(first);
    const std::vector<Tensor> right = values(step, given);
    std::vector<Tensor> found = right;
    const std::size_t weights = step.outputs().size();
    const Tensor& before = given[step.inputs().size()];
    Tensor off(before.type(), before.dims());  // w + 1.01 (w' − w)
    for (std::int64_t i = 0; i < off.count(); ++i)
        off.mutable_values<float>()[static_cast<std::size_t>(i)] =
            static_cast<float>(before.number(i) + 1.01 * (right[weights].number(i) - before.number(i)));
    found[weights] = off;
    const auto errors = result_errors(step, given, right, found);
    ASSERT_TRUE(errors.ok()) << errors.error().text();
    EXPECT_NEAR((*errors)[weights].error, 0.01, 0.002);
    EXPECT_TRUE((*errors)[weights].of_the_gradients);
    EXPECT_EQ((*errors)[0].error, 0);
}

}  // namespace
}  // namespace viridian::prove
