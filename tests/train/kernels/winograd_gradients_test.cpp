// Winograd's kernels for convolutions whose weights change from run to run, and for their gradients, against
// the reference kernels.
#include <gtest/gtest.h>

#include <map>

#include "tests/execute/every_choice.hpp"
#include "tests/support/cpu_device.hpp"
#include "tests/train/relative_error.hpp"
#include "viridian/gradient/differentiate.hpp"

namespace viridian::train {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

struct ConvolutionStep {
    Graph graph;  // y, and its gradients with respect to the source, the weights and the bias
    std::vector<Tensor> inputs;
};

// The source has a mean of 1, as behind a rectifier; gradients have none, so that sums cancel.
ConvolutionStep step_of(Random& random, const Dims& source, std::int64_t results, const Dims& pads,
                        bool biased) {
    ConvolutionStep step;
    Graph& graph = step.graph;
    const auto input = [&](const char* name, const Dims& dims, float mean = 0) {
        step.inputs.push_back(execute::random_tensor(random, dims));
        for (float& value : step.inputs.back().mutable_values<float>()) value += mean;
        return graph.add_input(name, {ElementType::f32, graph::shape_of(dims)});
    };
    std::vector<ValueId> of = {input("x", source, 1), input("w", {results, source[1], 3, 3})};
    if (biased) of.push_back(input("b", {results}));
    const ValueId y = graph.add("Conv", of, {{"pads", pads}}, "conv");
    EXPECT_TRUE(infer_types(graph).ok());
    const ValueId seed = input("seed", graph.value(y).type.dims());
    const auto gradients = gradient::differentiate(graph, of, std::vector{gradient::Seed{y, seed}});
    EXPECT_TRUE(gradients.ok());
    std::vector<ValueId> outputs = {y};
    outputs.insert(outputs.end(), gradients->begin(), gradients->end());
    graph.set_outputs(std::move(outputs));
    remove_dead_nodes(graph);
    EXPECT_TRUE(infer_types(graph).ok());
    return step;
}

// Images that no tile fits, channels that fill no block, and every padding.
TEST(WinogradGradients, AreThoseOfTheReference) {
    Random random(11);
    std::map<std::string, int> used;
    for (int i = 0; i < 24; ++i) {
        const int threads = 1 + i % 2;
        const auto device = execute::device_with(threads);
        const std::int64_t channels = random.between(threads == 1 ? 8 : 40, 80);
        const auto step =
            step_of(random, {random.between(1, 3), channels, random.between(3, 19), random.between(3, 19)},
                    random.between(20, 70),
                    {random.between(0, 2), random.between(0, 2), random.between(0, 2), random.between(0, 2)},
                    i % 3 == 0);
        const auto expected = graph::evaluate(step.graph, step.inputs);
        ASSERT_TRUE(expected.ok()) << expected.error().text();
        for (const std::string kind : {"4x3:pixels", "2x3:pixels", "4x3:channels", "2x3:channels"}) {
            const auto run = run_greedily(
                *device, step.graph, step.inputs, [&](const auto&, const std::vector<plan::Choice>& choices) {
                    for (std::size_t c = 0; c < choices.size(); ++c)
                        if (choices[c].kernel == "simd:winograd:" + kind ||
                            choices[c].kernel == "simd:weightgrad:" + kind.substr(0, 3))
                            return c;
                    return std::size_t{0};
                });
            ASSERT_TRUE(run.ok()) << run.error().text();
            for (const auto& [op, kernel] : run->kernels) ++used[op + " " + kernel];
            for (std::size_t o = 0; o < expected->size(); ++o)
                EXPECT_LE(relative_error(run->outputs[o], (*expected)[o]), 3e-5) << i << kind << o;
        }
    }
    for (const std::string op : {"Conv", "ConvGradInput"})
        for (const std::string kind : {"4x3:pixels", "2x3:pixels", "4x3:channels", "2x3:channels"})
            EXPECT_GT(used[op + " simd:winograd:" + kind], 0) << op << kind;
    for (const std::string kind : {"4x3", "2x3"})
        EXPECT_GT(used["ConvGradWeight simd:weightgrad:" + kind], 0) << kind;
}

TEST(WinogradGradients, AreNotOfferedWhereTheyAreNotAllowed) {
    Random random(13);
    const auto step = step_of(random, {2, 64, 16, 16}, 64, {1, 1, 1, 1}, true);
    for (const bool allowed : {true, false}) {
        execute::Allowances allowances;
        allowances.winograd = allowed;
        const auto device = execute::make_cpu_device({.threads = 2, .pin = false, .allowances = allowances});
        ASSERT_TRUE(device.ok()) << device.error().text();
        int offered = 0;
        for (const plan::Region& region : execute::single_node_regions(step.graph)) {
            const auto choices = (*device)->choices(step.graph, region);
            ASSERT_TRUE(choices.ok()) << choices.error().text();
            offered += std::ranges::any_of(*choices, [](const plan::Choice& choice) {
                return choice.variant.algorithm == plan::Algorithm::winograd;
            });
        }
        EXPECT_EQ(offered, allowed ? 3 : 0);
    }
}

// So many tiles that they go by in several pieces, whose sums are added up.
TEST(WinogradGradients, OfManyTiles) {
    Random random(12);
    const auto device = execute::device_with(2);
    const auto step = step_of(random, {1, 40, 640, 640}, 40, {1, 1, 1, 1}, false);
    std::vector<Tensor> outputs[2];
    for (const bool winograd : {false, true}) {
        const auto run = run_greedily(
            *device, step.graph, step.inputs, [&](const auto&, const std::vector<plan::Choice>& choices) {
                for (std::size_t c = 0; c < choices.size(); ++c)
                    if (choices[c].kernel ==
                        (winograd ? "simd:weightgrad:4x3" : "dnnl:convgrad:x64:gemm:jit"))
                        return c;
                return std::size_t{0};
            });
        ASSERT_TRUE(run.ok()) << run.error().text();
        const auto gradient =
            std::ranges::find(run->kernels, "ConvGradWeight", [](const auto& k) { return k.first; });
        ASSERT_NE(gradient, run->kernels.end());
        EXPECT_EQ(gradient->second.starts_with("simd"), winograd) << gradient->second;
        outputs[winograd ? 1 : 0] = run->outputs;
    }
    EXPECT_LE(relative_error(outputs[1][2], outputs[0][2]), 3e-5);
}

}  // namespace
}  // namespace viridian::train
