#include "viridian/search/assign/assign.hpp"

#include <gtest/gtest.h>

#include "random_network.hpp"
#include "tests/support/cases.hpp"
#include "viridian/search/assign/encode.hpp"
#include "viridian/search/exact/solve.hpp"

namespace viridian::search {
namespace {

using tests::Network;
using tests::Recipe;

constexpr Metrics ones{Seconds(1), Joules(1), Operations(1), Traffic(1), Launches(1)};

void check_against_everything(std::uint64_t seed, const Recipe& recipe, const std::string& objective) {
    Random random(seed);
    const Network net = tests::random_network(random, recipe);
    const auto parsed = parse_objective(objective);
    ASSERT_TRUE(parsed.ok());
    const Weights weights = parsed->weights(ones);
    AssignOptions options;
    options.start = ones;
    const auto found = tests::assigned(net, *parsed, options);
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
    for (std::uint64_t seed = 0; seed < cases(1000U); ++seed)
        check_against_everything(
            seed, {.nodes = 5, .formats = 4, .choices = 3, .fusion = false, .in_place = false}, "time");
}

TEST(Assign, equals_brute_force_with_overlapping_regions) {
    for (std::uint64_t seed = 0; seed < cases(1000U); ++seed)
        check_against_everything(
            seed, {.nodes = 6, .formats = 3, .choices = 2, .fusion = true, .in_place = false}, "time");
}

TEST(Assign, equals_brute_force_in_place) {
    for (std::uint64_t seed = 0; seed < cases(2000U); ++seed)
        check_against_everything(
            seed, {.nodes = 5, .formats = 2, .choices = 4, .fusion = true, .in_place = true}, "time");
}

TEST(Assign, equals_brute_force_for_mixes) {
    for (std::uint64_t seed = 0; seed < cases(1000U); ++seed)
        check_against_everything(seed,
                                 {.nodes = 5, .formats = 4, .choices = 3, .fusion = true, .in_place = true},
                                 seed % 2 == 0 ? "energy" : "0.3*energy+0.7*time");
}

// As least power asks for them: sets of formats are then exactly those that are read.
TEST(Assign, equals_brute_force_under_negative_weights) {
    for (std::uint64_t seed = 0; seed < cases(2000U); ++seed) {
        Random random(seed);
        const Network net = tests::random_network(
            random,
            {.nodes = 6, .formats = 3, .choices = 3, .fusion = seed % 2 == 0, .in_place = seed % 4 < 2});
        const auto instance = search::Instance::make(net.graph, net.regions, net.source());
        ASSERT_TRUE(instance.ok());
        const Weights weights{-random.uniform(0.1, 1), 1, 0, 0, 0};
        const Encoding encoding(*instance, weights);
        EXPECT_EQ(encoding.restricted_values(), 0U);
        const Solution solution = solve_exact(encoding.problem(), {});
        const double truth = tests::brute_force(net, weights);
        EXPECT_NEAR(solution.value, truth, 1e-9) << "seed " << seed;
        if (solution.states.empty()) continue;
        const Encoding::Decoded decoded = encoding.decode(solution.states);
        EXPECT_NEAR(weights.of(decoded.totals), truth, 1e-9) << "seed " << seed;
        EXPECT_NEAR(tests::price_of(net, decoded.assignment, weights), truth, 1e-9) << "seed " << seed;
    }
}

TEST(Assign, says_which_node_no_kernel_does) {
    Random random(1);
    Network net = tests::random_network(random, {});
    net.choices[{graph::NodeId{2}}].clear();
    net.regions.erase(std::remove_if(net.regions.begin(), net.regions.end(),
                                     [](const plan::Region& r) { return r.nodes.size() > 1; }),
                      net.regions.end());
    const auto found = tests::assigned(net, Objective{});
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, ErrorCode::unsupported);
    EXPECT_NE(found.error().message.find(net.graph.node(graph::NodeId{2}).name), std::string::npos);
}

}  // namespace
}  // namespace viridian::search
