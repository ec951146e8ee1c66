#include "viridian/gradient/dropout.hpp"

#include <gtest/gtest.h>

#include "viridian/base/random.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/training/dropout_mask.hpp"
#include "viridian/graph/verify.hpp"

namespace viridian::gradient {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::Tensor;
using graph::TensorType;
using graph::ValueId;

Tensor truth(bool value) {
    Tensor tensor(ElementType::boolean, {});
    tensor.mutable_values<bool>()[0] = value;
    return tensor;
}

// A graph under construction, with the numbers of its masks as first inputs.
struct Step {
    Graph g;
    MaskInputs masks{};

    Step() {
        const TensorType number{ElementType::i64, graph::Shape{}};
        masks = {g.add_input("seed", number), g.add_input("step", number),
                 g.add_input("first_sample", number)};
    }
    ValueId input(ElementType type, const graph::Dims& dims) {
        return g.add_input("x", {type, graph::shape_of(dims)});
    }
    // The outputs of a Dropout in training mode.
    std::vector<ValueId> dropout(ValueId x, ValueId ratio, std::size_t outputs = 1, bool training = true) {
        Node node;
        node.op = graph::op::Dropout;
        node.name = "drop";
        node.inputs = {x, ratio, g.add_constant("training", truth(training))};
        return g.node(g.add_node(std::move(node), outputs)).outputs;
    }
    ValueId ratio(float value) { return g.add_constant("ratio", Tensor::scalar(value)); }
};

std::vector<Tensor> run(const Graph& g, std::vector<Tensor> others, std::int64_t seed = 5,
                        std::int64_t step = 2, std::int64_t first = 7) {
    std::vector<Tensor> inputs = {Tensor::scalar(seed), Tensor::scalar(step), Tensor::scalar(first)};
    inputs.insert(inputs.end(), others.begin(), others.end());
    const auto outputs = evaluate(g, inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.error().text();
    return outputs.ok() ? *outputs : std::vector<Tensor>();
}

Tensor random_floats(const graph::Dims& dims, std::uint64_t seed) {
    Random random(seed);
    Tensor tensor(ElementType::f32, dims);
    for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.normal());
    return tensor;
}

// ONNX: y = x · mask / (1 − ratio). The mask is DropoutMask's of the dropout's stream.
TEST(Dropout, IsTheProductWithItsMask) {
    Step s;
    const ValueId x = s.input(ElementType::f32, {3, 2, 5});
    ASSERT_TRUE(infer_types(s.g).ok());
    const ValueId first = s.dropout(x, s.ratio(0.25F))[0];
    const auto second = s.dropout(first, s.ratio(0.5F), 2);
    s.g.set_outputs({first, second[0], second[1]});
    ASSERT_TRUE(infer_types(s.g).ok());
    std::vector<std::string> names;
    for (const ValueId id : s.g.outputs()) names.push_back(s.g.value(id).name);
    const auto count = expand_dropouts(s.g, s.masks);
    ASSERT_TRUE(count.ok()) << count.error().text();
    EXPECT_EQ(*count, 2);
    EXPECT_TRUE(verify(s.g).ok()) << verify(s.g).error().text();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(s.g.value(s.g.outputs()[i]).name, names[i]);

    const Tensor given = random_floats({3, 2, 5}, 1);
    const auto outputs = run(s.g, {given});
    ASSERT_EQ(outputs.size(), 3U);
    std::vector<std::int64_t> one(30), two(30);
    graph::draw_mask({.seed = 5, .stream = 0, .step = 2, .first_sample = 7}, 0.25, 3, 10, std::span(one));
    graph::draw_mask({.seed = 5, .stream = 1, .step = 2, .first_sample = 7}, 0.5, 3, 10, std::span(two));
    EXPECT_NE(one, two);
    EXPECT_EQ(outputs[2].integers(), two);
    for (std::int64_t i = 0; i < 30; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double y = given.number(i) * static_cast<double>(one[at]) / 0.75;
        EXPECT_NEAR(outputs[0].number(i), y, 1e-6);
        EXPECT_NEAR(outputs[1].number(i), y * static_cast<double>(two[at]) * 2, 1e-6);
    }
}

// Parts of a batch, each with the number of its first sample, give what the batch gives.
TEST(Dropout, SamplesKeepTheirMasks) {
    const auto graph_of = [](std::int64_t samples) {
        Step s;
        const ValueId x = s.input(ElementType::f32, {samples, 9});
        s.g.set_outputs(s.dropout(x, s.ratio(0.4F)));
        EXPECT_TRUE(infer_types(s.g).ok());
        EXPECT_TRUE(expand_dropouts(s.g, s.masks).ok());
        return s.g;
    };
    const Tensor x = random_floats({4, 9}, 2);
    const Tensor whole = run(graph_of(4), {x})[0];
    for (const std::int64_t half : {0, 1}) {
        const auto values = x.values<float>().subspan(static_cast<std::size_t>(half * 18), 18);
        const Tensor part = run(graph_of(2), {Tensor::f32({2, 9}, values)}, 5, 2, 7 + 2 * half)[0];
        for (std::int64_t i = 0; i < 18; ++i) EXPECT_EQ(part.number(i), whole.number(half * 18 + i));
    }
    EXPECT_FALSE(run(graph_of(4), {x}, 5, 3)[0].same_bytes(whole)) << "another step, another mask";
}

TEST(Dropout, TakesEveryFloatingType) {
    for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16})
        for (const ElementType ratio_type : {ElementType::f64, ElementType::f32, ElementType::f16})
            for (const bool constant : {true, false}) {
                Step s;
                const ValueId x = s.input(type, {4, 8});
                graph::Array<double> half(ratio_type, {}), ones(type, {4, 8});
                half.real[0] = 0.5;
                for (double& value : ones.real) value = 1;
                const ValueId ratio = constant ? s.g.add_constant("ratio", tensor_of(half))
                                               : s.g.add_input("ratio", {ratio_type, graph::Shape{}});
                s.g.set_outputs(s.dropout(x, ratio));
                ASSERT_TRUE(infer_types(s.g).ok());
                const auto count = expand_dropouts(s.g, s.masks);
                ASSERT_TRUE(count.ok()) << count.error().text();
                ASSERT_TRUE(verify(s.g).ok()) << verify(s.g).error().text();
                std::vector<Tensor> inputs = {tensor_of(ones)};
                if (!constant) inputs.push_back(tensor_of(half));
                const Tensor y = run(s.g, inputs)[0];
                EXPECT_EQ(y.type(), type);
                double sum = 0;
                for (std::int64_t i = 0; i < y.count(); ++i) {
                    EXPECT_TRUE(y.number(i) == 0 || y.number(i) == 2) << y.number(i);
                    sum += y.number(i);
                }
                EXPECT_GT(sum, 0);
                EXPECT_LT(sum, 64);
            }
}

// The dimensions come from the value itself where they are not known.
TEST(Dropout, TakesBatchesOfAnySize) {
    Step s;
    const ValueId x = s.g.add_input("x", {ElementType::f32, graph::Shape{graph::Dimension("N"), 3}});
    s.g.set_outputs(s.dropout(x, ValueId::none));
    ASSERT_TRUE(infer_types(s.g).ok());
    ASSERT_TRUE(expand_dropouts(s.g, s.masks).ok());
    EXPECT_TRUE(verify(s.g).ok());
    for (const std::int64_t batch : {1, 6}) {
        const Tensor y = run(
            s.g, {Tensor::f32({batch, 3}, std::vector<float>(static_cast<std::size_t>(3 * batch), 1))})[0];
        EXPECT_EQ(y.dims(), (graph::Dims{batch, 3}));
        for (std::int64_t i = 0; i < y.count(); ++i) EXPECT_TRUE(y.number(i) == 0 || y.number(i) == 2);
    }
}

// The network's layer stays the origin of what stands for it; a dropped infinity is 0.
TEST(Dropout, KeepsOriginsAndDropsInfinities) {
    Step s;
    const ValueId x = s.input(ElementType::f32, {1, 64});
    s.g.set_outputs(s.dropout(x, s.ratio(0.5F)));
    ASSERT_TRUE(infer_types(s.g).ok());
    ASSERT_TRUE(expand_dropouts(s.g, s.masks).ok());
    for (const graph::NodeId id : s.g.nodes())
        EXPECT_EQ(s.g.node(id).origin, std::vector<std::string>{"drop"});
    const Tensor y =
        run(s.g, {Tensor::f32({1, 64}, std::vector<float>(64, std::numeric_limits<float>::infinity()))})[0];
    int zeros = 0;
    for (std::int64_t i = 0; i < 64; ++i) zeros += y.number(i) == 0 ? 1 : 0;
    EXPECT_GT(zeros, 10);
}

TEST(Dropout, LeavesInferenceAlone) {
    Step s;
    const ValueId x = s.input(ElementType::f32, {2, 3});
    const ValueId off = s.dropout(x, s.ratio(0.5F), 1, false)[0];
    s.g.set_outputs({off, s.g.add(graph::op::Dropout, {x})});
    ASSERT_TRUE(infer_types(s.g).ok());
    const auto before = structural_hash(s.g);
    const auto count = expand_dropouts(s.g, s.masks);
    ASSERT_TRUE(count.ok());
    EXPECT_EQ(*count, 0);
    EXPECT_EQ(structural_hash(s.g), before);
}

TEST(Dropout, RefusesModesThatOnlyTheRunTells) {
    Step s;
    const ValueId x = s.input(ElementType::f32, {2, 3});
    const ValueId mode = s.g.add_input("mode", {ElementType::boolean, graph::Shape{}});
    s.g.set_outputs({s.g.add(graph::op::Dropout, {x, s.ratio(0.5F), mode})});
    ASSERT_TRUE(infer_types(s.g).ok());
    const auto count = expand_dropouts(s.g, s.masks);
    ASSERT_FALSE(count.ok());
    EXPECT_EQ(count.error().code, ErrorCode::unsupported);
}

TEST(Dropout, RefusesBodies) {
    Step s, inner;
    const ValueId y = inner.input(ElementType::f32, {2, 3});
    inner.g.set_outputs(inner.dropout(y, inner.ratio(0.5F)));
    const TensorType number{ElementType::i64, graph::Shape{}};
    Node node;
    node.op = graph::Operator("Layer", "com.example");
    node.inputs = {s.masks.seed, s.masks.step, s.masks.first_sample, s.input(ElementType::f32, {2, 3})};
    node.bodies = {std::make_shared<const Graph>(inner.g)};
    s.g.set_outputs(s.g.node(s.g.add_node(std::move(node))).outputs);
    ASSERT_TRUE(infer_types(s.g).ok());
    EXPECT_EQ(expand_dropouts(s.g, s.masks).error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace viridian::gradient
