#include "viridian/cost/synthetic.hpp"

#include <gtest/gtest.h>

#include "viridian/graph/infer.hpp"

namespace viridian::cost {
namespace {

// A 3×3 convolution of `channels`.
graph::Graph convolution(std::int64_t channels) {
    graph::Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, channels, 14, 14})});
    const auto w =
        graph.add_constant("w", graph::Tensor(graph::ElementType::f32, {channels, channels, 3, 3}));
    graph.set_outputs({graph.add("Conv", {x, w}, {{"pads", graph::Dims{1, 1, 1, 1}}})});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

TEST(Synthetic, SlowerKernelsAreOftenLeanerAndPricesRepeat) {
    int slower_and_leaner = 0;
    for (std::int64_t channels = 8; channels <= 256; channels += 8) {
        const graph::Graph graph = convolution(channels);
        const auto regions = plan::candidate_regions(graph);
        ASSERT_TRUE(regions.ok());
        const auto list = *synthetic(1).choices(graph, regions->front());
        const auto again = *synthetic(1).choices(graph, regions->front());
        const auto other = *synthetic(2).choices(graph, regions->front());
        ASSERT_EQ(list.size(), 5U);
        EXPECT_EQ(list.back().choice.kernel, "winograd");
        EXPECT_NE(list[1].price.seconds, other[1].price.seconds);
        for (std::size_t i = 0; i < list.size(); ++i) {
            EXPECT_EQ(list[i].price.seconds, again[i].price.seconds);
            EXPECT_GT(list[i].price.energy.value.value, 0);
            EXPECT_EQ(list[i].price.energy.provenance.text(), "estimated:synthetic-gpu");
        }
        slower_and_leaner += list[1].price.seconds > list[0].price.seconds &&
                             list[1].price.energy.value < list[0].price.energy.value;
    }
    EXPECT_GT(slower_and_leaner, 3);
    EXPECT_LT(slower_and_leaner, 32);
}

}  // namespace
}  // namespace viridian::cost
