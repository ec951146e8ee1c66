// The pool that tells where its maxima lie, against the reference kernel: rows longer than a vector, ties,
// numbers that are none, and every kind of window.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/cpu_device.hpp"
#include "tests/support/greedy.hpp"
#include "viridian/base/random.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::train {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Tensor;

// Few different values, so that many windows have several maxima.
Tensor with_ties(Random& random, const Dims& dims) {
    const float odd[] = {0.0F,
                         -0.0F,
                         1.0F,
                         2.0F,
                         std::numeric_limits<float>::lowest(),
                         -std::numeric_limits<float>::infinity(),
                         std::numeric_limits<float>::quiet_NaN()};
    Tensor tensor(ElementType::f32, dims);
    for (float& value : tensor.mutable_values<float>())
        value = odd[random.chance(0.03) ? random.between(3, 6) : random.between(0, 3)];
    return tensor;
}

TEST(MaxPoolWithPlaces, IsThatOfTheReference) {
    Random random(14);
    const auto device = execute::device_with(2);
    int compared = 0;
    for (int i = 0; i < 160; ++i) {
        const bool line = i % 8 == 7;
        const std::int64_t width = i % 10 == 9 ? 600 : random.between(1, 60);
        Dims image = {random.between(1, 2), random.between(1, 3)}, kernel, strides, dilations, pads;
        for (int axis = line ? 1 : 0; axis < 2; ++axis) {
            kernel.push_back(random.between(1, i % 20 == 19 ? 9 : 4));
            strides.push_back(random.between(1, 3));
            dilations.push_back(random.between(1, 2));
            pads.push_back(random.between(0, kernel.back() - 1));
        }
        for (std::size_t axis = 0; axis < kernel.size(); ++axis)
            pads.push_back(random.between(0, kernel[axis] - 1));
        if (!line) image.push_back(random.between(1, 20));
        image.push_back(width);
        Graph graph;
        const auto x = graph.add_input("x", {ElementType::f32, graph::shape_of(image)});
        const std::int64_t ceil = random.chance(0.3) ? 1 : 0;
        graph::Node pool;
        pool.op = graph::op::MaxPool;
        pool.inputs = {x};
        pool.attributes = {{"kernel_shape", kernel},
                           {"strides", strides},
                           {"dilations", dilations},
                           {"pads", pads},
                           {"ceil_mode", ceil}};
        const graph::NodeId made = graph.add_node(std::move(pool), 2);
        graph.set_outputs({graph.node(made).outputs[0], graph.node(made).outputs[1]});
        if (!infer_types(graph).ok()) continue;  // the window is larger than the image
        const Dims result = graph.value(graph.node(made).outputs[0]).type.dims();
        if (std::ranges::any_of(result, [](std::int64_t extent) { return extent < 1; })) continue;
        const std::vector<Tensor> inputs = {with_ties(random, image)};
        const auto expected = graph::evaluate(graph, inputs);
        ASSERT_TRUE(expected.ok()) << expected.error().text();
        const auto run =
            run_greedily(*device, graph, inputs, [&](const auto&, const std::vector<plan::Choice>& choices) {
                const auto found = std::ranges::find(choices, "simd:maxpool", &plan::Choice::kernel);
                EXPECT_NE(found, choices.end());
                return static_cast<std::size_t>(found - choices.begin());
            });
        ASSERT_TRUE(run.ok()) << run.error().text();
        for (std::int64_t k = 0; k < expected->at(0).count(); ++k) {
            const double right = expected->at(0).number(k), found = run->outputs[0].number(k);
            ASSERT_TRUE(right == found || (right != right && found != found)) << i << " " << k;
            ASSERT_EQ(expected->at(1).integer(k), run->outputs[1].integer(k)) << i << " " << k;
        }
        ++compared;
    }
    EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace viridian::train
