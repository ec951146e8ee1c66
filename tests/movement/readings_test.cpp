#include "viridian/movement/readings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "viridian/graph/infer.hpp"

namespace viridian::movement {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Phase;
using graph::Tensor;
using graph::ValueId;
namespace op = graph::op;

ValueId add(Graph& graph, graph::KnownOperator op, const std::string& name, std::vector<ValueId> inputs,
            Phase phase = Phase::forward) {
    const ValueId result = graph.add(op, std::move(inputs), {}, name);
    graph::Node node = graph.node(graph.value(result).producer);
    node.phase = phase;
    graph.set_node(graph.value(result).producer, node);
    return result;
}

ValueId input(Graph& graph, const std::string& name, const graph::Dims& dims) {
    return graph.add_input(name, {graph::ElementType::f32, graph::shape_of(dims)});
}

std::vector<ReadWords> readings_of(Graph& graph, FusionRule rule = FusionRule::published) {
    EXPECT_TRUE(graph::infer_types(graph).ok());
    const auto fusion = fuse(graph, rule);
    EXPECT_TRUE(fusion.ok());
    const auto found = readings(graph, *fusion);
    EXPECT_TRUE(found.ok());
    return *found;
}

// A softmax of 6 x 8 words between two operators, and in the place of its gradient another one that reads it.
TEST(Readings, CountsASoftmaxAsOneOperatorOrAsThree) {
    Graph graph;
    const ValueId x = input(graph, "x", {6, 8}), dy = input(graph, "dy", {6, 8});
    const ValueId softmax = add(graph, op::Softmax, "softmax", {add(graph, op::Neg, "scale", {x})});
    const ValueId y = add(graph, op::Exp, "after", {softmax});
    const ValueId back = add(graph, op::Mul, "after.gradient", {dy, softmax}, Phase::backward);
    const ValueId grad = add(graph, op::Softmax, "softmax.gradient", {back}, Phase::backward);
    const ValueId dx = add(graph, op::Neg, "scale.gradient", {grad}, Phase::backward);
    graph.set_outputs({y, dx});
    const auto found = readings_of(graph);
    ASSERT_EQ(found.size(), 3U);
    const std::int64_t tensor = 48;
    // Forward: x is read, the softmax and y are written. Backward: dy and the softmax are read, dx is
    // written.
    for (const ReadWords& read : found) EXPECT_EQ(read.fused.moved(), 6 * tensor);
    EXPECT_EQ(found[0].unfused.moved(), 6 * tensor);
    EXPECT_EQ(found[1].unfused.moved(), (6 + 3) * tensor);  // scale's result both ways, the softmax again
    EXPECT_EQ(found[2].unfused.moved(), (6 + 3 + 4) * tensor);
    EXPECT_EQ(found[0].saved(), 0);
    EXPECT_DOUBLE_EQ(found[2].saved(), 1 - 6.0 / 13);
}

// A bias, a ReLU and what follows: the gradient reads the input of the ReLU, which the paper does not count.
TEST(Readings, NamesWhatOnlyGradientsRead) {
    Graph graph;
    const ValueId x = input(graph, "x", {4, 6}), dy = input(graph, "dy", {4, 6});
    const ValueId biased = add(graph, op::Neg, "bias", {x});
    const ValueId y = add(graph, op::Relu, "relu", {biased});
    const ValueId dx = add(graph, op::Mul, "relu.gradient", {dy, biased}, Phase::backward);
    graph.set_outputs({y, dx});
    const auto found = readings_of(graph);
    EXPECT_EQ(found[2].unfused.moved(), 24 * 7);
    EXPECT_EQ(found[2].fused.moved(), 24 * 6);
    EXPECT_EQ(found[2].interim, 24);
    EXPECT_DOUBLE_EQ(found[2].saved_as_the_paper_counts(), 1 - 5.0 / 7);
    graph.set_outputs({y, dx, biased});  // what the user asks for is counted
    EXPECT_EQ(readings_of(graph)[2].interim, 0);
}

// The definition of words, value by value.
std::int64_t counted_by_value(const Graph& graph, const Region& region) {
    const std::set<NodeId> inside(region.nodes.begin(), region.nodes.end());
    std::int64_t words = 0;
    for (std::size_t i = 0; i < graph.value_count(); ++i) {
        const auto value = static_cast<ValueId>(i);
        const bool made_here =
            graph.producer(value) != nullptr && inside.contains(graph.value(value).producer);
        bool read_here = false, read_elsewhere = false;
        for (const ValueId output : graph.outputs()) read_elsewhere = read_elsewhere || output == value;
        for (const NodeId id : graph.nodes())
            for (const ValueId read : graph.node(id).inputs)
                if (read == value) (inside.contains(id) ? read_here : read_elsewhere) = true;
        if (made_here ? read_elsewhere : read_here) words += words_in(graph, value);
    }
    return words;
}

Graph random_graph(std::mt19937& random) {
    Graph graph;
    const auto pick = [&](std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    std::vector<ValueId> values = {input(graph, "x", {4, 6}), input(graph, "y", {4, 6})};
    const std::size_t forward = 3 + pick(8);
    for (std::size_t i = 0; i < forward + 6; ++i) {
        const Phase phase = i < forward ? Phase::forward : Phase::backward;
        const ValueId a = values[pick(values.size())], b = values[pick(values.size())];
        const std::string name = "n" + std::to_string(i);
        switch (pick(5)) {
            case 0:
                values.push_back(add(graph, op::Add, name, {a, b}, phase));
                break;
            case 1:
                values.push_back(add(graph, op::Softmax, name, {a}, phase));
                break;
            case 2:
                values.push_back(add(graph, op::Mul, name, {a, b}, phase));
                break;
            case 3:
                values.push_back(add(graph, op::Relu, name, {a}, phase));
                break;
            default:
                values.push_back(add(graph, op::MatMul, name,
                                     {a, graph.add_constant("w", Tensor(graph::ElementType::f32, {6, 6}))},
                                     phase));
        }
    }
    graph.set_outputs({values.back(), values[values.size() / 2]});
    return graph;
}

TEST(Readings, AddUpOnRandomGraphs) {
    std::mt19937 random(20);
    for (int round = 0; round < 200; ++round) {
        Graph graph = random_graph(random);
        const auto found = readings_of(graph);
        EXPECT_LE(found[0].unfused.moved(), found[1].unfused.moved());
        EXPECT_LE(found[1].unfused.moved(), found[2].unfused.moved());
        for (const ReadWords& read : found) {
            EXPECT_LE(read.fused.moved(), read.unfused.moved());
            EXPECT_GE(read.interim, 0);
            EXPECT_LE(read.interim, read.fused.written);
        }
        for (const FusionRule rule : {FusionRule::none, FusionRule::published, FusionRule::free}) {
            const auto fusion = fuse(graph, rule);
            ASSERT_TRUE(fusion.ok());
            std::int64_t sum = 0;
            std::set<NodeId> nodes;
            for (const Region& region : fusion->regions) {
                EXPECT_EQ(words_of(graph, region).moved(), counted_by_value(graph, region));
                for (const ValueId value : region.reads)  // of a region before
                    EXPECT_TRUE(graph.producer(value) == nullptr ||
                                nodes.contains(graph.value(value).producer));
                sum += words_of(graph, region).moved();
                nodes.insert(region.nodes.begin(), region.nodes.end());
            }
            EXPECT_EQ(nodes.size(), graph.nodes().size());  // each node once
            const std::int64_t unfused = found[2].unfused.moved();
            const std::int64_t most = rule == FusionRule::published ? found[2].fused.moved() : unfused;
            EXPECT_LE(sum, most);
            EXPECT_TRUE(sum == most || rule == FusionRule::free);
        }
    }
}

}  // namespace
}  // namespace viridian::movement
