#include "tests/execute/every_choice.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

// Places inside and outside the image; on constant grids too.
TEST(GridSample, EveryModeAndPadding) {
    Random random(1);
    const auto device = test_device(2);
    for (const char* mode : {"linear", "nearest"})
        for (const char* padding : {"zeros", "border", "reflection"})
            for (const std::int64_t corners : {0, 1}) {
                const std::int64_t n = random.between(1, 3);
                Graph graph;
                const ValueId x = graph.add_input(
                    "x", f32({n, random.between(1, 5), random.between(1, 9), random.between(1, 11)}));
                const Dims places = {n, random.between(1, 30), random.between(1, 40), 2};
                const ValueId grid = random.chance(0.5)
                                         ? graph.add_input("grid", f32(places))
                                         : graph.add_constant("grid", random_tensor(random, places));
                graph.set_outputs({graph.add("GridSample", {x, grid},
                                             {{"mode", std::string(mode)},
                                              {"padding_mode", std::string(padding)},
                                              {"align_corners", corners}})});
                EXPECT_THAT(check_region(*device, graph, random, 1e-6), testing::Contains("grid_sample"))
                    << mode << ' ' << padding << ' ' << corners;
            }
}

}  // namespace
}  // namespace viridian::execute
