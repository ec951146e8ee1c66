#include "viridian/search/assign.hpp"

#include <gtest/gtest.h>

#include "random_network.hpp"

namespace viridian::search {
namespace {

using tests::Network;
using tests::Recipe;

void check_against_everything(std::uint64_t seed, const Recipe& recipe, const std::string& objective) {
    Random random(seed);
    const Network net = tests::random_network(random, recipe);
    const auto parsed = parse_objective(objective);
    ASSERT_TRUE(parsed.ok());
    const Weights weights = parsed->weights({1, 1, 1, 1, 1});
    AssignOptions options;
    options.start = Metrics{1, 1, 1, 1, 1};
    const auto found = assign(net.graph, net.regions, net.source(), *parsed, options);
    const double truth = tests::brute_force(net, weights);
    if (!found.ok()) {
        EXPECT_EQ(truth, infinite) << "seed " << seed << ": " << found.error().text();
        return;
    }
    EXPECT_NEAR(found->value, truth, 1e-9 * truth) << "seed " << seed;
    EXPECT_NEAR(tests::price_of(net, *found, weights), found->value, 1e-9 * truth) << "seed " << seed;
    EXPECT_EQ(found->gap(), 0) << "seed " << seed;
}

TEST(Assign, equals_brute_force_without_fusion) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed)
        check_against_everything(
            seed, {.nodes = 5, .formats = 4, .choices = 3, .fusion = false, .in_place = false}, "time");
}

TEST(Assign, equals_brute_force_with_overlapping_regions) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed)
        check_against_everything(
            seed, {.nodes = 6, .formats = 3, .choices = 2, .fusion = true, .in_place = false}, "time");
}

TEST(Assign, equals_brute_force_in_place) {
    for (std::uint64_t seed = 0; seed < 2000; ++seed)
        check_against_everything(
            seed, {.nodes = 5, .formats = 2, .choices = 4, .fusion = true, .in_place = true}, "time");
}

TEST(Assign, equals_brute_force_for_mixes) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed)
        check_against_everything(seed,
                                 {.nodes = 5, .formats = 4, .choices = 3, .fusion = true, .in_place = true},
                                 seed % 2 == 0 ? "energy" : "0.3*energy+0.7*time");
}

TEST(Assign, says_which_node_no_kernel_does) {
    Random random(1);
    Network net = tests::random_network(random, {});
    net.choices[{graph::NodeId{2}}].clear();
    net.regions.erase(std::remove_if(net.regions.begin(), net.regions.end(),
                                     [](const plan::Region& r) { return r.nodes.size() > 1; }),
                      net.regions.end());
    const auto found = assign(net.graph, net.regions, net.source(), Objective{});
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, ErrorCode::unsupported);
    EXPECT_NE(found.error().message.find(net.graph.node(graph::NodeId{2}).name), std::string::npos);
}

}  // namespace
}  // namespace viridian::search
