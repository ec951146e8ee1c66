#include "viridian/search/exact/solve.hpp"

#include <gtest/gtest.h>

#include "tests/support/cases.hpp"
#include "viridian/base/random.hpp"
#include "viridian/search/exact/bound.hpp"
#include "viridian/search/exact/branch.hpp"
#include "viridian/search/exact/eliminate.hpp"
#include "viridian/search/exact/reduce.hpp"

namespace viridian::search {
namespace {

struct Shape {
    std::size_t variables = 6;
    std::size_t states = 4;
    double density = 0.5;
    double forbidden = 0.1;
    double low = 0;  // least cost; negative ones come with ratio objectives
};

Problem random_problem(Random& random, const Shape& shape) {
    Problem problem;
    const auto cost = [&] {
        return random.chance(shape.forbidden) ? infinite : random.uniform(shape.low, 1);
    };
    for (std::size_t v = 0; v < shape.variables; ++v) {
        std::vector<double> costs(1 + random.below(shape.states));
        for (double& c : costs) c = cost();
        problem.add_variable(std::move(costs));
    }
    for (Variable a = 0; a < problem.size(); ++a)
        for (Variable b = a + 1; b < problem.size(); ++b) {
            if (!random.chance(shape.density)) continue;
            Matrix matrix(problem.states(a), problem.states(b));
            for (std::size_t r = 0; r < matrix.rows(); ++r)
                for (std::size_t c = 0; c < matrix.columns(); ++c) matrix(r, c) = cost();
            problem.add_cost(a, b, matrix);
        }
    return problem;
}

double least_of_all(const Problem& problem) {
    std::vector<State> states(problem.size(), 0);
    double least = infinite;
    for (;;) {
        least = std::min(least, value(problem, states));
        std::size_t v = 0;
        while (v < states.size() && ++states[v] == problem.states(static_cast<Variable>(v))) states[v++] = 0;
        if (v == states.size()) return least;
    }
}

void expect_optimal(const Problem& problem, const Solution& solution, double truth, std::uint64_t seed) {
    if (truth == infinite) {
        EXPECT_TRUE(solution.states.empty()) << "seed " << seed;
        EXPECT_EQ(solution.bound, infinite) << "seed " << seed;
        return;
    }
    ASSERT_EQ(solution.states.size(), problem.size()) << "seed " << seed;
    EXPECT_NEAR(solution.value, truth, 1e-9) << "seed " << seed;
    EXPECT_EQ(solution.value, value(problem, solution.states)) << "seed " << seed;
    EXPECT_EQ(solution.bound, solution.value) << "seed " << seed;
}

class EveryShape : public testing::TestWithParam<Shape> {};

TEST_P(EveryShape, elimination_equals_brute_force) {
    for (std::uint64_t seed = 0; seed < cases(1000U); ++seed) {
        Random random(seed);
        const Problem problem = random_problem(random, GetParam());
        expect_optimal(problem, eliminate(problem, elimination_order(problem).order), least_of_all(problem),
                       seed);
    }
}

TEST_P(EveryShape, branch_and_bound_equals_brute_force) {
    for (std::uint64_t seed = 0; seed < cases(500U); ++seed) {
        Random random(seed);
        const Problem problem = random_problem(random, GetParam());
        SolveOptions options;
        options.most_entries = 0;  // nothing is finished by elimination
        expect_optimal(problem, branch_and_bound(problem, options), least_of_all(problem), seed);
    }
}

// Costs of millions that cancel to a value near 0: what rounding leaves of them counts as proven, as
// docs/search.md says, and nothing more.
TEST(BranchAndBound, is_optimal_up_to_the_rounding_of_summed_magnitudes) {
    for (std::uint64_t seed = 0; seed < cases(300U); ++seed) {
        Random random(seed);
        Problem problem = random_problem(random, {7, 3, 0.8, 0.1, -1});
        double left = 0, magnitude = 100;  // of the costs before they are moved
        for (Variable v = 0; v < problem.size(); ++v) {
            const double shift = v + 1 < problem.size() ? random.uniform(-1e6, 1e6) : -left;
            left += shift;
            magnitude += std::abs(shift);
            for (State s = 0; s < problem.states(v); ++s) problem.add_cost(v, s, shift);
        }
        const double truth = least_of_all(problem);
        SolveOptions options;
        options.most_entries = 0;
        const Solution found = branch_and_bound(problem, options);
        if (truth == infinite) {
            EXPECT_TRUE(found.states.empty()) << "seed " << seed;
            continue;
        }
        EXPECT_NEAR(found.value, truth, 1e-12 * magnitude) << "seed " << seed;
    }
}

TEST_P(EveryShape, reductions_keep_the_optimum) {
    for (std::uint64_t seed = 0; seed < cases(1000U); ++seed) {
        Random random(seed);
        const Problem problem = random_problem(random, GetParam());
        const Core core(problem);
        const double rest = core.problem().size() == 0 ? 0 : least_of_all(core.problem());
        const double truth = least_of_all(problem);
        if (truth == infinite) {
            EXPECT_EQ(core.constant() + rest, infinite);
            continue;
        }
        EXPECT_NEAR(core.constant() + rest, truth, 1e-9) << "seed " << seed;
    }
}

TEST_P(EveryShape, bounds_are_below_and_dominance_keeps_the_optimum) {
    for (std::uint64_t seed = 0; seed < cases(1000U); ++seed) {
        Random random(seed);
        const Problem problem = random_problem(random, GetParam());
        const double truth = least_of_all(problem);
        Bounded bounded(problem);
        bounded.tighten(20, 0, infinite);
        if (truth == infinite) continue;
        ASSERT_TRUE(bounded.feasible()) << "seed " << seed;
        EXPECT_LE(bounded.bound(), truth + 1e-9) << "seed " << seed;
        bounded.remove_dominated();
        EXPECT_NEAR(bounded.constant() + least_of_all(bounded.remaining()), truth, 1e-9) << "seed " << seed;
        bounded.tighten(20, 0, truth + 1e-9);
        ASSERT_TRUE(bounded.feasible()) << "seed " << seed;
        EXPECT_NEAR(bounded.constant() + least_of_all(bounded.remaining()), truth, 1e-9) << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Exact, EveryShape,
                         testing::Values(Shape{6, 4, 0.5, 0.1, 0}, Shape{8, 3, 0.3, 0.2, 0},
                                         Shape{7, 3, 1.0, 0.0, -1}, Shape{6, 4, 0.8, 0.4, -0.5}));

TEST(Bounded, is_exact_on_trees) {
    for (std::uint64_t seed = 0; seed < cases(200U); ++seed) {
        Random random(seed);
        Problem problem;
        for (int v = 0; v < 8; ++v)
            problem.add_variable({random.uniform(), random.uniform(), random.uniform()});
        for (Variable v = 1; v < 8; ++v) {
            Matrix matrix(3, 3);
            for (std::size_t r = 0; r < 3; ++r)
                for (std::size_t c = 0; c < 3; ++c) matrix(r, c) = random.uniform();
            problem.add_cost(v - 1, v, matrix);
        }
        Bounded bounded(problem);
        bounded.tighten(50, 0, infinite);
        EXPECT_NEAR(bounded.bound(), least_of_all(problem), 1e-9) << "seed " << seed;
    }
}

TEST(SolveExact, says_how_far_it_got_when_time_is_short) {
    Random random(3);
    const Problem problem = random_problem(random, {40, 12, 1.0, 0, 0});
    SolveOptions options;
    options.time_limit = Seconds(0.2);
    const Solution solution = solve_exact(problem, options);
    ASSERT_EQ(solution.states.size(), problem.size());
    EXPECT_LT(solution.bound, solution.value);
    EXPECT_GT(solution.bound, 0.3 * solution.value);
}

TEST(SolveExact, a_variable_without_states_has_no_solution) {
    Problem problem;
    problem.add_variable({});
    EXPECT_TRUE(solve_exact(problem).states.empty());
    EXPECT_EQ(solve_exact(Problem{}).value, 0);
}

}  // namespace
}  // namespace viridian::search
