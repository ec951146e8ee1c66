// Steps that compute activations again need less memory and give the same numbers.
#include "viridian/gradient/memory/recompute.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_network.hpp"
#include "viridian/gradient/check/check.hpp"
#include "viridian/gradient/step.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/verify.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::gradient {
namespace {

// What a run of `graph` gives for random inputs and states.
std::vector<double> results_of(const Graph& graph) {
    Random random(7);
    std::vector<graph::Array<double>> inputs;
    for (const ValueId id : run_inputs(graph)) {
        const graph::TensorType& type = graph.value(id).type;
        graph::Array<double>& input = inputs.emplace_back(type.element, type.dims());
        for (double& value : input.real) value = random.uniform(0.1, 1);
        for (std::int64_t& value : input.integer) value = random.between(0, 2);
    }
    const auto answers = evaluate(graph, inputs, graph::Rounding::none);
    EXPECT_TRUE(answers.ok()) << answers.error().text();
    std::vector<double> numbers;
    for (std::size_t k = 0; answers.ok() && k < answers->size(); ++k)
        numbers.insert(numbers.end(), (*answers)[k].real.begin(), (*answers)[k].real.end());
    return numbers;
}

Bytes need_of(Graph graph) {
    const auto all = recompute(graph, Bytes(std::int64_t{1} << 40));
    EXPECT_TRUE(all.ok());
    return all->before;
}

// Layers of a product, Gelu and dropout, and a softmax, as in a transformer.
Graph layers(int count) {
    Random random(3);
    Graph graph;
    ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({64, 32})});
    const ValueId ratio = graph.add_constant("ratio", Tensor::f32({}, std::vector{0.25F}));
    const bool on[] = {true};
    const ValueId training = graph.add_constant("training", Tensor::of<bool>(ElementType::boolean, {}, on));
    for (int layer = 0; layer < count; ++layer) {
        Tensor weight(ElementType::f32, {32, 32});
        for (float& value : weight.mutable_values<float>())
            value = static_cast<float>(random.uniform(-0.3, 0.3));
        const ValueId w = graph.add_constant(fmt::format("w{}", layer), weight);
        x = graph.add(op::MatMul, {x, w});
        x = graph.add(layer % 2 == 0 ? op::Gelu : op::Softmax, {x});
        x = graph.add(op::Dropout, {x, ratio, training}, {}, fmt::format("layer{}", layer));
    }
    graph.set_outputs({x});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

TEST(Recompute, GivesTheSameNumbersInLessMemory) {
    const auto made = training_step(layers(8), {});
    ASSERT_TRUE(made.ok()) << made.error().text();
    const Graph& whole = made->graph;
    const std::vector<double> expected = results_of(whole);
    const Bytes need = need_of(whole);
    std::int64_t nodes = 0;
    for (const double share : {0.95, 0.85, 0.75}) {
        Graph less = whole;
        const Bytes most(static_cast<std::int64_t>(share * static_cast<double>(need.value)));
        const auto again = recompute(less, most);
        ASSERT_TRUE(again.ok()) << again.error().text();
        EXPECT_EQ(again->before, need);
        EXPECT_LE(again->after, most);
        EXPECT_GT(again->nodes, nodes) << "less memory takes more work";
        nodes = again->nodes;
        ASSERT_TRUE(verify(less).ok()) << verify(less).error().text();
        EXPECT_EQ(need_of(less), again->after) << "what was promised is what the new graph needs";
        EXPECT_EQ(results_of(less), expected);
        EXPECT_EQ(less.nodes().size(), whole.nodes().size() + static_cast<std::size_t>(again->nodes));
        std::size_t second = 0;
        for (const NodeId id : less.nodes()) second += less.node(id).name.ends_with(".again") ? 1U : 0U;
        EXPECT_GT(second, 0U);
    }
}

// What runs a step simplifies it before.
TEST(Recompute, IsNotUndoneByRewrites) {
    const auto made = training_step(layers(8), {});
    ASSERT_TRUE(made.ok()) << made.error().text();
    Graph less = made->graph;
    const Bytes need = need_of(less);
    const auto again = recompute(less, Bytes(need.value * 8 / 10));
    ASSERT_TRUE(again.ok()) << again.error().text();
    Graph simplified = less;
    ASSERT_TRUE(rewrite::simplify(simplified).ok());
    EXPECT_EQ(simplified.nodes().size(), less.nodes().size());
    EXPECT_EQ(need_of(simplified), again->after);
}

// Two branches of one size, of which either may be made again before they meet: that ends.
TEST(Recompute, Ends) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({1000})});
    const ValueId one = graph.add(op::Tanh, {graph.add(op::Exp, {x})});
    const ValueId two = graph.add(op::Sin, {graph.add(op::Cos, {x})});
    graph.set_outputs({graph.add(op::ReduceSum, {graph.add(op::Mul, {one, two})})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto done = recompute(graph, Bytes(13'000));
    ASSERT_TRUE(done.ok()) << done.error().text();
    EXPECT_GT(done->after, Bytes(13'000));
    EXPECT_EQ(need_of(graph), done->after);
}

TEST(Recompute, FitsMicroBatches) {
    StepOptions options;
    const auto whole = accumulated_step(layers(8), options);
    ASSERT_TRUE(whole.ok()) << whole.error().text();
    const Bytes need = need_of(whole->accumulate.graph);
    options.memory = Bytes(need.value * 9 / 10);
    const auto less = accumulated_step(layers(8), options);
    ASSERT_TRUE(less.ok()) << less.error().text();
    EXPECT_LE(need_of(less->accumulate.graph), *options.memory);
    EXPECT_EQ(results_of(less->accumulate.graph), results_of(whole->accumulate.graph));
}

TEST(Recompute, KeepsRandomNetworks) {
    std::size_t changed = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Random random(seed);
        Instance instance(random);
        RandomNetwork(instance, static_cast<std::size_t>(random.between(10, 30)));
        Result<Question> question = ask(instance);
        ASSERT_TRUE(question.ok()) << "seed " << seed << ": " << question.error().text();
        const std::vector<double> expected = results_of(question->graph);
        // A twentieth less each time, as far as it goes.
        for (Bytes most = need_of(question->graph);; most = Bytes(most.value * 19 / 20)) {
            Graph less = question->graph;
            const auto again = recompute(less, most);
            ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.error().text();
            if (again->after > most) break;
            changed += again->nodes > 0 ? 1 : 0;
            ASSERT_TRUE(verify(less).ok()) << "seed " << seed << ": " << verify(less).error().text();
            ASSERT_EQ(results_of(less), expected) << "seed " << seed;
            ASSERT_LE(need_of(less), most) << "seed " << seed;
        }
    }
    EXPECT_GE(changed, 50U);
}

TEST(Recompute, LeavesAStepThatFits) {
    const auto made = training_step(layers(3), {});
    ASSERT_TRUE(made.ok());
    Graph same = made->graph;
    const auto again = recompute(same, need_of(same));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->nodes, 0);
    EXPECT_EQ(structural_hash(same), structural_hash(made->graph));
}

TEST(Recompute, SaysWhatAStepNeedsAtLeast) {
    StepOptions options;
    options.memory = Bytes(40'000);
    const auto made = training_step(layers(3), options);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, ErrorCode::limit_exceeded);
    EXPECT_THAT(made.error().message, testing::HasSubstr("if activations are computed again"));
}

// Kernels need memory besides the values, which only a plan tells.
TEST(Recompute, FitsWhatARunNeedsBesidesValues) {
    StepOptions options;
    const auto whole = training_step(layers(8), options);
    ASSERT_TRUE(whole.ok()) << whole.error().text();
    const Bytes values = need_of(whole->graph), kernels(30'000);
    int asked = 0;
    options.need = [&](const Graph& step) {
        ++asked;
        return Result<Bytes>(need_of(step) + kernels);
    };
    options.memory = values + kernels;
    const auto same = training_step(layers(8), options);
    ASSERT_TRUE(same.ok()) << same.error().text();
    EXPECT_EQ(same->graph.nodes().size(), whole->graph.nodes().size());
    EXPECT_EQ(asked, 1);
    options.memory = values;
    const auto less = training_step(layers(8), options);
    ASSERT_TRUE(less.ok()) << less.error().text();
    EXPECT_LE(need_of(less->graph) + kernels, *options.memory);
    EXPECT_EQ(results_of(less->graph), results_of(whole->graph));
    options.memory = kernels;
    const auto refused = training_step(layers(8), options);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("and 29.3 KiB are allowed"));
    options.need = [](const Graph&) -> Result<Bytes> {
        return fail(ErrorCode::unsupported, "", "no kernel");
    };
    EXPECT_EQ(training_step(layers(8), options).error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace viridian::gradient
