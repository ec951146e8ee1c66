// Kernels of convolutional steps in every layout: batch normalisation, and gradients of rectifiers.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/execute/every_choice.hpp"
#include "tests/support/cpu_device.hpp"
#include "viridian/base/random.hpp"
#include "viridian/gradient/differentiate.hpp"
#include "viridian/gradient/term.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::train {
namespace {

using execute::device_with;
using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

Tensor drawn(const Dims& dims, Random& random, double low, double high) {
    std::vector<float> values(static_cast<std::size_t>(*graph::element_count(dims)));
    for (float& value : values) value = static_cast<float>(random.uniform(low, high));
    return Tensor::f32(dims, values);
}

// The largest difference of two tensors, relative to the largest element of the second.
double max_relative_error(const Tensor& a, const Tensor& b) {
    double difference = 0, size = 1e-3;
    for (std::int64_t i = 0; i < a.count(); ++i) {
        difference = std::max(difference, std::abs(a.number(i) - b.number(i)));
        size = std::max(size, std::abs(b.number(i)));
    }
    return difference / size;
}

// Takes the choice whose input has this layout, where one has; else the first.
std::size_t in_layout(const std::string& layout, const std::vector<plan::Choice>& choices) {
    for (std::size_t i = 0; i < choices.size(); ++i)
        if (!choices[i].inputs.empty() && text(choices[i].inputs[0].layout) == layout) return i;
    return 0;
}

// What follows the normalisation.
enum class Following { nothing, relu, sum_and_relu, product, product_and_clip };

// Batch normalisation of x [dims] with its gradients, and inputs for it.
struct Normalization {
    Graph graph;
    std::vector<Tensor> inputs;
};
Normalization normalization(const Dims& dims, double mean, Following following = Following::nothing) {
    Normalization made;
    Random random(5);
    const auto add = [&](const char* name, const Dims& of, double low, double high) {
        made.inputs.push_back(drawn(of, random, low, high));
        return made.graph.add_input(name, {ElementType::f32, graph::shape_of(of)});
    };
    const Dims each = {dims[1]};
    const ValueId x = add("x", dims, mean - 1, mean + 1), scale = add("scale", each, -1, 1),
                  bias = add("bias", each, -1, 1), average = add("mean", each, -1, 1),
                  variance = add("variance", each, 0.5, 2);
    graph::Node node;
    node.op = graph::op::BatchNormalization;
    node.inputs = {x, scale, bias, average, variance};
    node.attributes = {{"training_mode", std::int64_t{1}}};
    std::vector<ValueId> outputs = made.graph.node(made.graph.add_node(node, 3)).outputs;
    if (following == Following::sum_and_relu)
        outputs[0] = made.graph.add(graph::op::Add, {outputs[0], add("other", dims, -1, 1)});
    if (following == Following::relu || following == Following::sum_and_relu)
        outputs[0] = made.graph.add(graph::op::Relu, {outputs[0]});
    if (following == Following::product || following == Following::product_and_clip)
        outputs[0] = made.graph.add(graph::op::Mul, {outputs[0], add("other", dims, -1, 1)});
    if (following == Following::product_and_clip)
        outputs[0] = made.graph.add(graph::op::Clip,
                                    {outputs[0], made.graph.add_constant("low", Tensor::scalar(-0.5F)),
                                     made.graph.add_constant("high", Tensor::scalar(0.5F))});
    made.graph.set_outputs(outputs);
    EXPECT_TRUE(infer_types(made.graph).ok());
    const ValueId u = add("u", dims, -1, 1);
    const std::vector<ValueId> of = {x, scale, bias};
    const std::vector<gradient::Seed> seeds = {{outputs[0], u}};
    const auto gradients = differentiate(made.graph, of, seeds);
    EXPECT_TRUE(gradients.ok());
    std::vector<ValueId> all = outputs;
    all.insert(all.end(), gradients->begin(), gradients->end());
    made.graph.set_outputs(std::move(all));
    EXPECT_TRUE(infer_types(made.graph).ok());
    return made;
}

TEST(ChannelKernels, NormaliseBatchesInEveryLayout) {
    for (const Dims& dims : {Dims{3, 20, 17, 19}, Dims{2, 64, 9, 9}, Dims{1, 300, 5, 7}, Dims{130, 8, 1, 1}})
        for (const double mean : {0.0, 100.0}) {
            const Normalization task = normalization(dims, mean);
            const auto expected = graph::evaluate(task.graph, task.inputs);
            ASSERT_TRUE(expected.ok()) << expected.error().text();
            for (const std::string layout : {"nchw", "nhwc", "nChw16c", "nChw8c"}) {
                std::vector<std::vector<Tensor>> of_threads;
                for (const int threads : {1, 2, 3}) {
                    std::string kernels;
                    const auto run = run_greedily(*device_with(threads), task.graph, task.inputs,
                                                  [&](const auto&, const auto& choices) {
                                                      const std::size_t i = in_layout(layout, choices);
                                                      kernels += text(choices[i].inputs[0].layout) + " ";
                                                      return i;
                                                  });
                    ASSERT_TRUE(run.ok()) << run.error().text();
                    if (dims[2] > 1) {
                        EXPECT_EQ(kernels, layout + " " + layout + " ");
                    }
                    of_threads.push_back(run->outputs);
                    for (std::size_t i = 0; i < expected->size(); ++i) {
                        EXPECT_LE(max_relative_error(run->outputs[i], (*expected)[i]),
                                  mean == 0 ? 2e-6 : 2e-4)
                            << layout << " output " << i;
                        EXPECT_TRUE(run->outputs[i].same_bytes(of_threads[0][i]))
                            << layout << ", " << threads << " threads, output " << i;
                    }
                }
            }
        }
}

// The regions of several nodes that the finder makes around batch normalisation, and the other nodes alone.
std::vector<plan::Region> around_normalizations(const Graph& graph) {
    const auto candidates = plan::candidate_regions(graph);
    EXPECT_TRUE(candidates.ok());
    std::vector<plan::Region> regions = execute::single_node_regions(graph);
    for (const plan::Region& region : *candidates) {
        const auto is = [&](graph::NodeId id, const graph::KnownOperator& op) {
            return graph.node(id).op == op;
        };
        if (region.nodes.size() < 2 || !(is(region.nodes.front(), graph::op::BatchNormalizationTraining) ||
                                         is(region.nodes.back(), graph::op::BatchNormalizationGrad)))
            continue;
        std::erase_if(regions, [&](const plan::Region& other) {
            return std::ranges::find(region.nodes, other.nodes[0]) != region.nodes.end();
        });
        regions.push_back(region);
    }
    const std::vector<graph::NodeId> order = *topological_order(graph);
    std::ranges::sort(regions, {}, [&](const plan::Region& region) {
        return std::ranges::find(order, region.nodes.back()) - order.begin();
    });
    return regions;
}

// Fused with neighbouring steps, it matches the reference, with the same bits on any number of threads.
TEST(ChannelKernels, NormaliseBatchesWithSumsAndRectifiers) {
    for (const Dims& dims :
         {Dims{3, 20, 17, 19}, Dims{2, 300, 70, 3}, Dims{1, 64, 80, 90}, Dims{70, 8, 1, 1}})
        for (const Following following :
             {Following::relu, Following::sum_and_relu, Following::product_and_clip}) {
            const Normalization task = normalization(dims, 0, following);
            const auto expected = graph::evaluate(task.graph, task.inputs);
            ASSERT_TRUE(expected.ok()) << expected.error().text();
            const std::vector<plan::Region> regions = around_normalizations(task.graph);
            std::vector<std::size_t> sizes, expected_sizes = {2, 2};
            if (following == Following::sum_and_relu) expected_sizes = {3, 2};
            if (following == Following::product_and_clip)
                expected_sizes = {2, 1, 3};  // ClipGrad reads the product, too
            for (const plan::Region& region : regions) sizes.push_back(region.nodes.size());
            ASSERT_EQ(sizes, expected_sizes);
            for (const std::string layout : {"nchw", "nhwc", "nChw16c", "nChw8c"}) {
                std::vector<std::vector<Tensor>> of_threads;
                for (const int threads : {1, 2, 3}) {
                    std::set<std::string> layouts;
                    const auto run = run_regions(*device_with(threads), task.graph, regions, task.inputs,
                                                 [&](const auto&, const auto& choices) {
                                                     const std::size_t i = in_layout(layout, choices);
                                                     layouts.insert(text(choices[i].inputs[0].layout));
                                                     return i;
                                                 });
                    ASSERT_TRUE(run.ok()) << run.error().text();
                    if (dims[2] > 1) {
                        EXPECT_EQ(layouts, std::set<std::string>{layout});
                    }
                    EXPECT_EQ(std::ranges::count_if(
                                  run->kernels, [](const auto& of) { return of.second == "simd:batchnorm"; }),
                              2);
                    of_threads.push_back(run->outputs);
                    for (std::size_t i = 0; i < expected->size(); ++i) {
                        EXPECT_LE(max_relative_error(run->outputs[i], (*expected)[i]), 2e-6)
                            << layout << " output " << i;
                        EXPECT_TRUE(run->outputs[i].same_bytes(of_threads[0][i]))
                            << layout << ", " << threads << " threads, output " << i;
                    }
                }
            }
        }
}

// Inputs, results or both are in bf16. The inputs are exact in bf16, so rounding them cannot change the sign
// of what a Relu reads.
TEST(ChannelKernels, NormaliseBatchesInBf16) {
    const auto device = execute::bf16_device(2);
    for (const Dims& dims :
         {Dims{3, 20, 17, 19}, Dims{2, 300, 70, 3}, Dims{1, 64, 80, 90}, Dims{70, 8, 1, 1}})
        for (const Following following :
             {Following::nothing, Following::relu, Following::sum_and_relu, Following::product}) {
            Normalization task = normalization(dims, 0, following);
            for (Tensor& input : task.inputs) input = execute::rounded_to_bf16(std::move(input));
            const auto expected = graph::evaluate(task.graph, task.inputs);
            ASSERT_TRUE(expected.ok()) << expected.error().text();
            const std::vector<plan::Region> regions = around_normalizations(task.graph);
            for (const std::string layout : {"nhwc", "nChw16c"})
                for (std::size_t round = 0; round < 3; ++round) {
                    int rounding = 0;
                    const auto run = run_regions(
                        *device, task.graph, regions, task.inputs,
                        [&](const plan::Region& region, const std::vector<plan::Choice>& choices) {
                            std::vector<std::size_t> in_bf16;
                            for (std::size_t i = 0; i < choices.size(); ++i)
                                if (choices[i].kernel == "simd:batchnorm" &&
                                    plan::rounds(task.graph, region, choices[i]) &&
                                    (dims[2] == 1 || text(choices[i].inputs[0].layout) == layout))
                                    in_bf16.push_back(i);
                            if (in_bf16.empty()) return in_layout(layout, choices);
                            ++rounding;
                            return in_bf16[round % in_bf16.size()];
                        });
                    ASSERT_TRUE(run.ok()) << run.error().text();
                    EXPECT_EQ(rounding, 2);
                    for (std::size_t i = 0; i < expected->size(); ++i)
                        EXPECT_LE(execute::distance(run->outputs[i], (*expected)[i]),
                                  i == 0 || i == 3 ? 0.006 : 1e-5)  // y and dx may be stored in bf16
                            << layout << " round " << round << " output " << i;
                }
        }
}

// A sum with the batch's own mean cannot be made before the mean is known.
TEST(ChannelKernels, SumsThatNeedTheStatisticsStayOutside) {
    Normalization task = normalization({2, 6, 5, 5}, 0);
    Graph& graph = task.graph;
    const auto find = [&] {
        for (const graph::NodeId id : graph.nodes())
            if (graph.node(id).op == graph::op::BatchNormalizationTraining) return id;
        return graph::NodeId::none;
    };
    const graph::NodeId normalises = find();
    const ValueId axes = graph.add_constant("axes", Tensor::i64({2}, std::vector<std::int64_t>{1, 2}));
    const std::vector<ValueId> made = graph.node(normalises).outputs;
    graph.set_outputs(
        {graph.add(graph::op::Add, {made[0], graph.add(graph::op::Unsqueeze, {made[3], axes})})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto candidates = plan::candidate_regions(graph);
    ASSERT_TRUE(candidates.ok());
    for (const plan::Region& region : *candidates) {
        if (region.nodes.front() == normalises) {
            EXPECT_EQ(region.nodes.size(), 1U);
        }
    }
}

// One rectifier's gradient, as the rule of the operator makes it.
struct Rectified {
    Graph graph;
    std::vector<Tensor> inputs;
};
Rectified rectified(graph::KnownOperator op, const Dims& dims) {
    Rectified made;
    Random random(6);
    const graph::TensorType type{ElementType::f32, graph::shape_of(dims)};
    const ValueId x = made.graph.add_input("x", type);
    std::vector<ValueId> inputs = {x};
    if (op == graph::op::Clip) {
        inputs.push_back(made.graph.add_constant("low", Tensor::scalar(-0.5F)));
        inputs.push_back(made.graph.add_constant("high", Tensor::scalar(0.75F)));
    }
    const ValueId y = made.graph.add(op, inputs);
    EXPECT_TRUE(infer_types(made.graph).ok());
    const ValueId u = made.graph.add_input("u", type);
    const std::vector<ValueId> of = {x};
    const std::vector<gradient::Seed> seeds = {{y, u}};
    const auto gradients = differentiate(made.graph, of, seeds);
    EXPECT_TRUE(gradients.ok());
    made.graph.set_outputs({y, (*gradients)[0]});
    EXPECT_TRUE(infer_types(made.graph).ok());
    made.inputs = {drawn(dims, random, -2, 2), drawn(dims, random, -1, 1)};
    auto values = made.inputs[0].mutable_values<float>();
    const float special[] = {0, -0.0F, -0.5F, 0.75F, std::nanf(""), HUGE_VALF, -HUGE_VALF};
    std::ranges::copy(special, values.begin());
    return made;
}

TEST(ChannelKernels, DifferentiateRectifiersInEveryLayout) {
    for (const graph::KnownOperator op : {graph::op::Relu, graph::op::Clip}) {
        const Rectified task = rectified(op, {3, 20, 17, 19});
        const auto expected = graph::evaluate(task.graph, task.inputs);
        ASSERT_TRUE(expected.ok()) << expected.error().text();
        for (const std::string layout : {"nchw", "nhwc", "nChw16c", "nChw8c"}) {
            const auto run =
                run_greedily(*device_with(2), task.graph, task.inputs,
                             [&](const auto&, const auto& choices) { return in_layout(layout, choices); });
            ASSERT_TRUE(run.ok()) << run.error().text();
            EXPECT_EQ(run->kernels[1].second, "simd:fused") << run->kernels[1].first;
            EXPECT_TRUE(run->outputs[1].same_bytes((*expected)[1])) << op.name() << " " << layout;
        }
    }
}

// A file may give an operator of ours a body of its own, and then means that body.
TEST(ChannelKernels, ComputeOtherBodiesOfRectifiersAsTheyAre) {
    Graph graph;
    gradient::Builder b(graph);
    const graph::TensorType type{ElementType::f32, graph::shape_of({3, 40})};
    const gradient::Term g = b.value(graph.add_input("g", type)), y = b.value(graph.add_input("y", type));
    const std::vector<gradient::Term> made =
        b.call(gradient::op::ReluGrad, {g, y}, {}, [](gradient::Builder&, const auto& in) {
            return std::vector<gradient::Term>{where(in[0] > 0, in[1], 0)};  // g and y change places
        });
    graph.set_outputs({made[0].id});
    ASSERT_TRUE(infer_types(graph).ok());
    Random random(8);
    const std::vector<Tensor> inputs = {drawn({3, 40}, random, -1, 1), drawn({3, 40}, random, -1, 1)};
    const auto expected = graph::evaluate(graph, inputs);
    ASSERT_TRUE(expected.ok()) << expected.error().text();
    const auto run = run_greedily(*device_with(2), graph, inputs);
    ASSERT_TRUE(run.ok()) << run.error().text();
    EXPECT_NE(run->kernels[0].second, "simd:fused");
    EXPECT_TRUE(run->outputs[0].same_bytes((*expected)[0]));
}

}  // namespace
}  // namespace viridian::train
