#include "structures.hpp"

#include <gtest/gtest.h>

#include "viridian/search/exact/eliminate.hpp"

namespace viridian::search {
namespace {

using tests::Kernels;
using tests::Network;

struct Solved {
    Outcome exact;
    std::size_t width = 0;
};

// Solves, prices the result by the tests' own rules, and holds it against the baselines.
Solved solve_and_check(const Network& net, double seconds = 10) {
    const auto instance = Instance::make(net.graph, net.regions, net.source());
    EXPECT_TRUE(instance.ok());
    const Objective objective;
    AssignOptions options;
    options.exact.time_limit = Seconds(seconds);
    auto exact = solve(*instance, objective, options);
    EXPECT_TRUE(exact.ok());
    EXPECT_NEAR(tests::price_of(net, exact->assignment, objective.weights({})), exact->assignment.value,
                1e-9 * exact->assignment.value);
    EXPECT_LE(exact->assignment.bound, exact->assignment.value);
    for (const SolverRow* solver : solvers()) {
        options.solver = solver;
        const auto other = solve(*instance, objective, options);
        EXPECT_TRUE(other.ok());
        EXPECT_LE(exact->assignment.value, other->assignment.value * (1 + 1e-12)) << solver->name;
    }
    const Encoding encoding(*instance, objective.weights({}));
    return {std::move(*exact), elimination_order(encoding.problem()).width};
}

TEST(Structures, resnet_is_solved_to_proof) {
    const Solved solved = solve_and_check(tests::resnet_like(16, {}, 1));
    EXPECT_LE(solved.width, 3U);
    EXPECT_EQ(solved.exact.assignment.gap(), 0);
}

TEST(Structures, inception_is_solved_to_proof) {
    const Solved solved = solve_and_check(tests::inception_like(11, {}, 1));
    EXPECT_LE(solved.width, 3U);
    EXPECT_EQ(solved.exact.assignment.gap(), 0);
}

TEST(Structures, bert_with_a_shared_mask_is_solved_to_proof) {
    const Solved solved = solve_and_check(tests::transformer_like(12, false, {}, 1));
    EXPECT_LE(solved.width, 3U);
    EXPECT_EQ(solved.exact.assignment.gap(), 0);
}

TEST(Structures, bert_forward_and_backward_of_width_6_is_solved_to_proof) {
    const Solved solved = solve_and_check(tests::transformer_like(12, true, {10, 3, 1}, 1));
    EXPECT_EQ(solved.width, 6U);
    EXPECT_EQ(solved.exact.assignment.gap(), 0);
}

TEST(Structures, a_dense_block_of_width_25_prints_its_bound) {
    const Solved solved = solve_and_check(tests::dense_block(24, {10, 3, 1}, 1), 2);
    EXPECT_EQ(solved.width, 25U);
    EXPECT_LE(solved.exact.assignment.gap(), 0.05 * solved.exact.assignment.value);
}

}  // namespace
}  // namespace viridian::search
