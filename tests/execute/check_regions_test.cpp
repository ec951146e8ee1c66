#include "viridian/execute/check_regions.hpp"

#include "tests/execute/every_choice.hpp"

namespace viridian::execute {
namespace {

// A kernel that overwrites its residual is tried on a copy of it.
TEST(CheckRegions, OverwrittenInputsAreCopied) {
    Random random(1);
    graph::Graph graph;
    const auto x = graph.add_input("x", f32({12, 40}));
    const auto residual = graph.add("Relu", {x});
    const auto matrix = graph.add_constant("w", random_tensor(random, {40, 40}));
    const auto product = graph.add("MatMul", {x, matrix});
    graph.set_outputs({graph.add("Add", {product, residual})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto device = test_device();
    const auto nodes = graph.nodes();
    const auto uses = graph::uses(graph);
    const std::vector<plan::Region> regions = {plan::make_region(graph, uses, {nodes[0]}),
                                               plan::make_region(graph, uses, {nodes[1], nodes[2]})};
    std::size_t tried = 0;
    for (std::size_t c = 0;; ++c) {
        bool beyond = false;
        auto assignment =
            assign(*device, graph, regions, [&](const plan::Region& region, const auto& choices) {
                if (region.nodes.size() == 1) return std::size_t{0};
                beyond = c >= choices.size();
                if (!beyond && choices[c].aliasing == plan::Aliasing::overwrite) ++tried;
                return beyond ? 0 : c;
            });
        ASSERT_TRUE(assignment.ok());
        if (beyond) break;
        const auto plan = plan::make_plan(graph, *std::move(assignment));
        ASSERT_TRUE(plan.ok());
        const auto inputs = random_inputs(graph, random);
        const auto before = inputs[0].content_hash();
        const auto checks = check_regions(*device, graph, *plan, inputs);
        ASSERT_TRUE(checks.ok()) << checks.error().text();
        ASSERT_EQ(checks->size(), 2U);
        for (const RegionCheck& check : *checks) EXPECT_LE(check.error, 1e-6) << check.kernel;
        EXPECT_EQ(inputs[0].content_hash(), before);
    }
    EXPECT_GE(tried, 1U);
}

}  // namespace
}  // namespace viridian::execute
