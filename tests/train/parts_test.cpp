// What parameters do in their layers, and new heads.
#include "viridian/train/weights/parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "viridian/graph/infer.hpp"
#include "viridian/train/weights/head.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::train {
namespace {

namespace op = graph::op;
using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

Tensor zeros(const Dims& dims) { return {ElementType::f32, dims}; }

// The part of the constant of this name.
std::optional<FoundPart> part(const Graph& graph, const std::string& name) {
    const graph::Uses readers = uses(graph);
    for (std::size_t i = 0; i < graph.value_count(); ++i)
        if (const auto id = static_cast<ValueId>(i);
            graph.constant(id) != nullptr && graph.value(id).name == name)
            return part_of(graph, readers, id);
    ADD_FAILURE() << "no constant " << name;
    return std::nullopt;
}

void expect_part(const Graph& graph, const std::string& name, Part wanted, std::int64_t fan_in = 0) {
    const auto found = part(graph, name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->shape.part, wanted) << name;
    EXPECT_EQ(found->shape.fan_in, fan_in) << name;
}

TEST(Parts, FollowFromTheReader) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({2, 3, 8, 8})});
    ValueId y = graph.add(op::Conv, {x, graph.add_constant("conv.weight", zeros({5, 3, 3, 3})),
                                     graph.add_constant("conv.bias", zeros({5}))});
    y = graph.add(op::BatchNormalization,
                  {y, graph.add_constant("bn.weight", zeros({5})), graph.add_constant("bn.bias", zeros({5})),
                   graph.add_constant("bn.mean", zeros({5})), graph.add_constant("bn.var", zeros({5}))});
    y = graph.add(op::PRelu, {y, graph.add_constant("slope", zeros({5, 1, 1}))});
    y = graph.add(op::Flatten, {y});
    y = graph.add(
        op::Gemm,
        {y, graph.add_constant("fc.weight", zeros({7, 180})), graph.add_constant("fc.bias", zeros({7}))},
        {{"transB", std::int64_t{1}}});
    const ValueId turned = graph.add(op::Transpose, {graph.add_constant("turned.weight", zeros({4, 7}))},
                                     {{"perm", Dims{1, 0}}});
    y = graph.add(op::MatMul, {y, turned});
    y = graph.add(op::Add, {graph.add_constant("turned.bias", zeros({4})), y});
    y = graph.add(op::MatMul, {y, graph.add_constant("straight.weight", zeros({4, 6}))});
    graph.set_outputs({y});
    ASSERT_TRUE(infer_types(graph).ok());
    expect_part(graph, "conv.weight", Part::convolution);
    expect_part(graph, "conv.bias", Part::bias, 27);
    expect_part(graph, "bn.weight", Part::scale);
    expect_part(graph, "bn.bias", Part::shift);
    expect_part(graph, "bn.mean", Part::shift);
    expect_part(graph, "bn.var", Part::scale);
    expect_part(graph, "fc.weight", Part::linear);
    expect_part(graph, "fc.bias", Part::bias, 180);
    expect_part(graph, "turned.weight", Part::linear);
    expect_part(graph, "turned.bias", Part::bias, 7);
    expect_part(graph, "straight.weight", Part::matrix);
    EXPECT_FALSE(part(graph, "slope"));
    const std::vector<std::string> names = {"conv.weight", "bn.var", "slope", "turned.weight"};
    const auto drawn = redraw(graph, names, {}, 3);
    ASSERT_TRUE(drawn.ok()) << drawn.error().text();
    EXPECT_THAT(drawn->kept, ElementsAre("slope"));
    EXPECT_EQ(drawn->weights.at("bn.var").number(2), 1);
    double largest = 0;
    for (const float value : drawn->weights.at("turned.weight").values<float>())
        largest = std::max(largest, double(std::abs(value)));
    EXPECT_GT(largest, 0.7 / std::sqrt(7));
    EXPECT_LE(largest, 1 / std::sqrt(7));
}

TEST(Parts, RecurrentLayersAreDrawnByTheirState) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({5, 2, 3})});
    graph.set_outputs(
        {graph.add(op::LSTM,
                   {x, graph.add_constant("w", zeros({1, 64, 3})),
                    graph.add_constant("r", zeros({1, 64, 16})), graph.add_constant("b", zeros({1, 128}))},
                   {{"hidden_size", std::int64_t{16}}})});
    ASSERT_TRUE(infer_types(graph).ok());
    const std::vector<std::string> names = {"w", "r", "b"};
    for (const char* drawing : {"pytorch", "xavier-uniform"}) {
        const auto drawn = redraw(graph, names, parse_drawing(drawing).value(), 3);
        ASSERT_TRUE(drawn.ok()) << drawn.error().text();
        EXPECT_EQ(drawn->weights.at("w").dims(), (Dims{1, 64, 3}));
        double largest = 0;
        for (const float value : drawn->weights.at("w").values<float>())
            largest = std::max(largest, double(std::abs(value)));
        const double bound = drawing == std::string("pytorch") ? 0.25 : std::sqrt(6.0 / 67);
        EXPECT_LE(largest, bound);
        EXPECT_GT(largest, 0.9 * bound);
    }
}

// Which parameters a new head of 7 classes has.
std::vector<std::string> head_of(const Graph& network) {
    auto made = replace_head(network, network.outputs()[0], 7, 1);
    EXPECT_TRUE(made.ok()) << made.error().text();
    if (!made.ok()) return {};
    EXPECT_EQ(made->network.value(made->network.outputs()[0]).type.dims().back(), 7);
    return made->parameters;
}

TEST(Head, IsTheLastLayerOfTheZoosNetworks) {
    for (const char* name : {"mlp", "small_cnn", "resnet18", "squeezenet1_0", "mobilenet_v2"}) {
        zoo::Options options;
        options.batch = 1;
        options.training = true;
        const auto network = zoo::build(name, options);
        ASSERT_TRUE(network.ok()) << network.error().text();
        EXPECT_EQ(head_of(*network).size(), 2U) << name;
    }
}

TEST(Head, RefusesWhatItCannotReplace) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({2, 3})});
    const ValueId weight = graph.add_constant("weight", zeros({3, 3}));
    const ValueId first = graph.add(op::MatMul, {x, weight});
    const ValueId tied = graph.add(op::MatMul, {first, weight});
    const ValueId product = graph.add(op::MatMul, {x, graph.add_constant("own", zeros({3, 4}))});
    const ValueId fixed = graph.add(
        op::Reshape, {product, graph.add_constant("shape", Tensor::i64({1}, std::vector<std::int64_t>{8}))});
    const ValueId sum = graph.add(op::Mul, {x, x});
    graph.set_outputs({tied, fixed, sum});
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_THAT(replace_head(graph, tied, 7, 1).error().message, HasSubstr("shares `weight`"));
    EXPECT_THAT(replace_head(graph, fixed, 7, 1).error().message,
                HasSubstr("does not take a head of 7 classes"));
    EXPECT_THAT(replace_head(graph, sum, 7, 1).error().message, HasSubstr("a new head replaces a Gemm"));
    EXPECT_EQ(replace_head(graph, x, 7, 1).error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace viridian::train
