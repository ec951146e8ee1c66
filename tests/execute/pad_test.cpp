#include "tests/execute/every_choice.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

TEST(Pad, AnyAxisByAConstant) {
    Random random(1);
    const auto device = test_device(2);
    for (int i = 0; i < 20; ++i) {
        Dims dims = {random.between(1, 2), random.chance(0.5) ? 16 : random.between(1, 5),
                     random.between(1, 20), random.between(1, 40)};
        std::vector<std::int64_t> pads;
        for (int side = 0; side < 2; ++side)
            for (std::size_t d = 0; d < 4; ++d)
                pads.push_back(d < 2 && random.chance(0.7) ? 0 : random.between(0, 3));
        Graph graph;
        std::vector<ValueId> inputs = {graph.add_input("x", f32(dims)),
                                       graph.add_constant("pads", graph::Tensor::i64({8}, pads))};
        if (random.chance(0.5)) inputs.push_back(graph.add_constant("value", graph::Tensor::scalar(-2.5F)));
        graph.set_outputs({graph.add("Pad", inputs)});
        EXPECT_THAT(check_region(*device, graph, random, 0), testing::Contains("pad"));
    }
}

}  // namespace
}  // namespace viridian::execute
