// oneDNN's gradients of convolutions in bf16, against the reference kernels.
#include <gtest/gtest.h>

#include <set>

#include "tests/execute/every_choice.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/gradient/differentiate.hpp"

namespace viridian::train {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

struct Convolution {
    const char* name;
    Dims source, weights;
    std::int64_t groups = 1, stride = 1, pad = 0, dilation = 1;
    bool offered = true;  // by oneDNN on every processor that multiplies in bf16
};

// A graph with one node: the gradient of a convolution by input `of` of x and W.
Graph gradient_graph(const Convolution& given, std::size_t of) {
    Graph graph;
    const std::vector<ValueId> inputs = {graph.add_input("x", execute::f32(given.source)),
                                         graph.add_input("w", execute::f32(given.weights))};
    const ValueId y = graph.add("Conv", inputs,
                                {{"group", given.groups},
                                 {"strides", Dims{given.stride, given.stride}},
                                 {"pads", Dims{given.pad, given.pad, given.pad, given.pad}},
                                 {"dilations", Dims{given.dilation, given.dilation}}},
                                "conv");
    EXPECT_TRUE(infer_types(graph).ok());
    const ValueId upstream = graph.add_input("g", execute::f32(graph.value(y).type.dims()));
    const auto gradients = gradient::differentiate(graph, inputs, std::vector{gradient::Seed{y, upstream}});
    EXPECT_TRUE(gradients.ok());
    graph.set_outputs({(*gradients)[of]});
    remove_dead_nodes(graph);
    EXPECT_EQ(graph.nodes().size(), 1U);
    return graph;
}

TEST(ConvolutionGradients, InBf16AreThoseOfTheReference) {
    if (!execute::multiplies_bf16()) GTEST_SKIP() << "this processor does not multiply in bf16";
    Random random(31);
    const auto device = execute::bf16_device(2);
    for (const Convolution& given : {
             Convolution{.name = "3x3", .source = {2, 64, 14, 14}, .weights = {48, 64, 3, 3}, .pad = 1},
             Convolution{.name = "point", .source = {3, 64, 9, 9}, .weights = {128, 64, 1, 1}},
             Convolution{.name = "point, stride 2",
                         .source = {2, 32, 10, 10},
                         .weights = {64, 32, 1, 1},
                         .stride = 2},
             Convolution{
                 .name = "image", .source = {2, 3, 33, 33}, .weights = {64, 3, 7, 7}, .stride = 2, .pad = 3},
             Convolution{.name = "odd", .source = {2, 21, 12, 11}, .weights = {19, 21, 3, 3}, .pad = 1},
             Convolution{.name = "windows apart",
                         .source = {1, 32, 17, 17},
                         .weights = {32, 32, 2, 2},
                         .stride = 3,
                         .pad = 1},
             Convolution{.name = "windows in the padding",
                         .source = {2, 32, 8, 8},
                         .weights = {32, 32, 2, 2},
                         .stride = 2,
                         .pad = 2,
                         .offered = false},
             Convolution{.name = "dilated",
                         .source = {2, 32, 15, 15},
                         .weights = {32, 32, 3, 3},
                         .pad = 2,
                         .dilation = 2},
             Convolution{.name = "depthwise",
                         .source = {2, 32, 14, 14},
                         .weights = {32, 1, 3, 3},
                         .groups = 32,
                         .pad = 1},
             Convolution{.name = "grouped",
                         .source = {2, 64, 14, 14},
                         .weights = {64, 16, 3, 3},
                         .groups = 4,
                         .pad = 1},
         })
        for (const std::size_t of : {0, 1}) {
            SCOPED_TRACE(given.name);
            // Gradients of weights are f32, and what is read is exact.
            const std::vector<std::string> tried = execute::check_region(
                *device, gradient_graph(given, of), random, 1e-5, of == 0 ? 4e-3 : 1e-5, "dnnl:convgrad");
            EXPECT_GE(tried.size(), !given.offered ? 0U : of == 0 ? 2U : 1U);
        }
}

}  // namespace
}  // namespace viridian::train
