#include <gtest/gtest.h>

#include "tests/support/training_step.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/verify.hpp"

namespace viridian::graph {
namespace {

std::string problem(const Result<void>& result) { return result.ok() ? "" : result.error().text(); }

std::vector<Tensor> joined(std::vector<Tensor> a, const std::vector<Tensor>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

TEST(States, CarryRolesOwnersAndFirstValues) {
    const Graph step = tests::training_step();
    EXPECT_EQ(problem(verify(step)), "");
    ASSERT_EQ(step.states().size(), 5U);
    const State& w1 = step.states()[0];
    const State& momentum = step.states()[3];
    EXPECT_EQ(w1.role, StateRole::parameter);
    EXPECT_EQ(momentum.role, StateRole::moment);
    EXPECT_EQ(momentum.of, w1.before);
    EXPECT_EQ(step.states()[4].role, StateRole::counter);
    ASSERT_NE(step.first_value(w1.before), nullptr);
    EXPECT_EQ(step.first_value(w1.before)->dims(), (Dims{7, 11}));
    EXPECT_EQ(step.constant(w1.before), nullptr) << "a first value is no constant";
    EXPECT_EQ(step.first_value(step.inputs()[0]), nullptr);
    EXPECT_EQ(step.first_value(ValueId::none), nullptr);
    EXPECT_EQ(step.inputs().size(), 3U);
}

TEST(States, AStepFromFirstValuesLowersTheLoss) {
    const Graph step = tests::training_step();
    const std::vector<Tensor> inputs = tests::step_inputs(1);
    std::vector<Tensor> states = tests::first_values(step);
    double first = 0;
    double last = 0;
    for (int i = 0; i < 20; ++i) {
        const auto results = evaluate(step, joined(inputs, states));
        ASSERT_TRUE(results.ok()) << results.error().text();
        ASSERT_EQ(results->size(), 6U);
        last = (*results)[0].number(0);
        if (i == 0) first = last;
        states.assign(results->begin() + 1, results->end());
    }
    EXPECT_LT(last, 0.5 * first);
    EXPECT_EQ(states[4].integer(0), 20);
}

// The gradients that the step was written with: a change of the loss along one weight.
TEST(States, TheHandWrittenGradientsAgreeWithDifferences) {
    const Graph step = tests::training_step();
    const std::vector<Tensor> inputs = tests::step_inputs(2, {}, 1);
    const std::vector<Tensor> states = tests::first_values(step);
    const auto at = evaluate(step, joined(inputs, states));
    ASSERT_TRUE(at.ok());
    for (const std::size_t which : {0U, 1U, 2U}) {
        const float gradient = states[which].values<float>()[1] - (*at)[1 + which].values<float>()[1];
        const auto loss = [&](float shift) {
            std::vector<Tensor> moved = states;
            moved[which].mutable_values<float>()[1] += shift;
            return (*evaluate(step, joined(inputs, moved)))[0].number(0);
        };
        EXPECT_NEAR((loss(0.01F) - loss(-0.01F)) / 0.02, gradient, 1e-3 * std::max(1.0F, std::abs(gradient)))
            << which;
    }
}

TEST(States, RemovingDeadNodesKeepsWhatTheyNeed) {
    Graph step = tests::training_step();
    const std::size_t count = step.nodes().size();
    step.set_outputs({});
    remove_dead_nodes(step);
    EXPECT_EQ(step.nodes().size(), count - 2) << "only `square` and `loss` serve the output alone";
}

TEST(States, MakeConstantFreezesAParameter) {
    Graph step = tests::training_step();
    const ValueId w1 = step.states()[0].before;
    step.make_constant(w1, *step.first_value(w1));
    remove_dead_nodes(step);
    ASSERT_EQ(step.states().size(), 4U);
    EXPECT_EQ(step.states()[2].of, ValueId::none) << "its momentum belongs to no state";
    EXPECT_EQ(problem(verify(step)), "");
    EXPECT_NE(step.constant(w1), nullptr);
    EXPECT_EQ(step.first_value(w1), nullptr);
}

TEST(States, NeitherPhaseNorRoleNorFirstValueEntersTheHash) {
    const Graph step = tests::training_step();
    Graph other = step;
    Node node = other.node(NodeId{3});
    node.phase = Phase::update;
    node.twin = "elsewhere";
    other.set_node(NodeId{3}, node);
    other.set_first_value(other.states()[0].before, Tensor(ElementType::f32, {7, 11}));
    EXPECT_EQ(structural_hash(step), structural_hash(other));
    other.set_after(other.states()[1].before, other.states()[1].before);
    EXPECT_NE(structural_hash(step), structural_hash(other)) << "the new value does";
}

TEST(States, VerifyNamesWhatIsWrong) {
    const Graph step = tests::training_step();
    const auto verified = [&](auto&& change) {
        Graph broken = step;
        change(broken);
        return problem(verify(broken));
    };
    const auto contains = [](const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    std::string text = verified([](Graph& g) { g.set_after(g.states()[0].before, ValueId::none); });
    EXPECT_TRUE(contains(text, "the state `W1` has no new value")) << text;
    text = verified([](Graph& g) { g.set_after(g.states()[0].before, g.states()[1].after); });
    EXPECT_TRUE(contains(text, "the state `W1` is f32[7,11], its new value `b1.new` is f32[11]")) << text;
    text = verified([](Graph& g) { g.set_after(g.states()[4].before, g.states()[1].after); });
    EXPECT_TRUE(contains(text, "the state `steps` is i64[], its new value")) << text;
    text = verified([](Graph& g) { g.set_first_value(g.states()[1].before, Tensor::scalar(1.0F)); });
    EXPECT_TRUE(contains(text, "the state `b1` is f32[11], its first value is f32[]")) << text;
    text = verified([](Graph& g) {
        const ValueId lost = g.add_state("lost", Tensor::scalar(1.0F), StateRole::moment, g.inputs()[0]);
        g.set_after(lost, lost);
    });
    EXPECT_TRUE(contains(text, "the state `lost` belongs to a value that is no other state")) << text;
    text = verified([&](Graph& g) {
        Node node = g.node(NodeId{0});
        node.bodies.push_back(std::make_shared<const Graph>(step));
        g.set_node(NodeId{0}, node);
    });
    EXPECT_TRUE(contains(text, "a body of node `linear1` has states")) << text;
    EXPECT_EQ(verified([](Graph& g) { g.set_after(g.states()[0].before, g.states()[0].before); }), "")
        << "a state may keep its value";
}

TEST(States, NamesOfRolesAndPhasesAreReadAgain) {
    for (const auto role : {StateRole::parameter, StateRole::statistic, StateRole::moment, StateRole::counter,
                            StateRole::scale, StateRole::accumulator})
        EXPECT_EQ(parse_state_role(name_of(role)), role);
    for (const auto phase : {Phase::forward, Phase::backward, Phase::weight, Phase::update})
        EXPECT_EQ(parse_phase(name_of(phase)), phase);
    EXPECT_EQ(parse_phase("sideways"), std::nullopt);
    EXPECT_EQ(parse_state_role(""), std::nullopt);
}

}  // namespace
}  // namespace viridian::graph
