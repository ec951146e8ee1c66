#include "viridian/search/exact/labels.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "viridian/base/random.hpp"
#include "viridian/search/exact/bucket_tree.hpp"
#include "viridian/search/exact/eliminate.hpp"

namespace viridian::search {
namespace {

struct Pair {
    Problem x, y;
};

// Both sums over the same variables and edges, forbidden together.
Pair random_pair(Random& random, std::size_t variables, std::size_t states, double density, double low) {
    Pair pair;
    const auto costs = [&](std::size_t count, std::vector<double>& a, std::vector<double>& b) {
        for (std::size_t i = 0; i < count; ++i) {
            const bool forbidden = random.chance(0.1);
            a.push_back(forbidden ? infinite : random.uniform(low, 1));
            b.push_back(forbidden ? infinite : random.uniform(low, 1));
        }
    };
    for (std::size_t v = 0; v < variables; ++v) {
        std::vector<double> a, b;
        costs(1 + random.below(states), a, b);
        pair.x.add_variable(std::move(a));
        pair.y.add_variable(std::move(b));
    }
    for (Variable v = 0; v < variables; ++v)
        for (Variable w = v + 1; w < variables; ++w) {
            if (!random.chance(density)) continue;
            Matrix in_x(pair.x.states(v), pair.x.states(w)), in_y = in_x;
            std::vector<double> a, b;
            costs(in_x.rows() * in_x.columns(), a, b);
            std::copy(a.begin(), a.end(), in_x.data());
            std::copy(b.begin(), b.end(), in_y.data());
            pair.x.add_cost(v, w, in_x);
            pair.y.add_cost(v, w, in_y);
        }
    return pair;
}

void every_assignment(const Problem& problem, const std::function<void(const std::vector<State>&)>& see) {
    std::vector<State> states(problem.size(), 0);
    for (;;) {
        see(states);
        std::size_t v = 0;
        while (v < states.size() && ++states[v] == problem.states(static_cast<Variable>(v))) states[v++] = 0;
        if (v == states.size()) return;
    }
}

// The least y of at most this x.
PointGoal least_y(double most_x) {
    PointGoal goal;
    goal.value = [=](double x, double y) { return x <= most_x ? y : infinite; };
    goal.first = {1, 0};
    goal.second = {0, 1};
    goal.directions = {{0.7, 1}, {1, 0}, {0, 1}};
    goal.farthest = [=](const Direction& d, double value) { return d.of(most_x, value); };
    return goal;
}

struct Truth {
    double least = infinite;   // y within the limit
    double lowest = infinite;  // y of any
};

Truth truth_of(const Pair& pair, double most_x) {
    Truth truth;
    every_assignment(pair.x, [&](const std::vector<State>& states) {
        const double y = value(pair.y, states);
        truth.lowest = std::min(truth.lowest, y);
        if (value(pair.x, states) <= most_x) truth.least = std::min(truth.least, y);
    });
    return truth;
}

TEST(Labels, find_the_least_point_of_random_problems) {
    int limited = 0, solved = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        Random random(seed);
        const Pair pair =
            random_pair(random, 1 + random.below(6), 4, random.uniform(0.2, 0.9), seed % 3 == 0 ? -0.5 : 0);
        const double most_x = random.uniform(0.5, 4);
        const Truth truth = truth_of(pair, most_x);
        if (truth.least == infinite) continue;
        const double known = truth.least + random.uniform(1e-6, 1);
        const Solution found = least_point({&pair.x, &pair.y}, least_y(most_x), known, truth.lowest, {});
        ASSERT_FALSE(found.states.empty()) << "seed " << seed;
        EXPECT_LE(value(pair.x, found.states), most_x) << "seed " << seed;
        EXPECT_NEAR(value(pair.y, found.states), truth.least, 1e-9) << "seed " << seed;
        EXPECT_EQ(found.bound, found.value) << "seed " << seed;
        limited += truth.lowest < truth.least ? 1 : 0;
        ++solved;
    }
    EXPECT_GT(solved, 1500);
    EXPECT_GT(limited, 300);
}

TEST(Labels, prove_that_nothing_is_below_the_optimum) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        Random random(seed);
        const Pair pair = random_pair(random, 5, 4, 0.5, 0);
        const double most_x = random.uniform(2, 4);
        const Truth truth = truth_of(pair, most_x);
        if (truth.least == infinite) continue;
        const Solution found =
            least_point({&pair.x, &pair.y}, least_y(most_x), truth.least, truth.lowest, {});
        EXPECT_EQ(found.bound, found.value) << "seed " << seed;
        EXPECT_NEAR(found.value, truth.least, 1e-9) << "seed " << seed;
    }
}

TEST(Labels, too_few_of_them_leave_a_true_bound) {
    int open = 0, raised = 0;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        Random random(seed);
        const Pair pair = random_pair(random, 8, 4, 0.3, 0);
        const double most_x = random.uniform(4, 8);
        const Truth truth = truth_of(pair, most_x);
        if (truth.least == infinite) continue;
        LabelOptions few;
        few.most_labels = 1;
        const double known = truth.least + 2;
        const Solution found = least_point({&pair.x, &pair.y}, least_y(most_x), known, truth.lowest - 1, few);
        EXPECT_LE(found.bound, truth.least + 1e-9) << "seed " << seed;
        EXPECT_GE(found.value, truth.least - 1e-9) << "seed " << seed;
        EXPECT_GE(found.bound, truth.lowest - 1) << "seed " << seed;
        if (!found.states.empty()) {
            EXPECT_NEAR(value(pair.y, found.states), found.value, 1e-9);
            EXPECT_LE(value(pair.x, found.states), most_x);
        }
        open += found.bound < found.value ? 1 : 0;
        raised += found.bound > truth.lowest - 1 ? 1 : 0;
    }
    EXPECT_GT(open, 50);
    EXPECT_GT(raised, 100);
}

TEST(Labels, no_time_leaves_what_was_known) {
    Random random(1);
    const Pair pair = random_pair(random, 8, 4, 0.3, 0);
    LabelOptions none;
    none.time_limit = Seconds(-1);
    const Solution found = least_point({&pair.x, &pair.y}, least_y(4), 7, 1, none);
    EXPECT_TRUE(found.states.empty());
    EXPECT_EQ(found.value, 7);
    EXPECT_EQ(found.bound, 1);
}

TEST(BucketTree, knows_the_least_cost_with_every_state) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        Random random(seed);
        const Problem problem = random_pair(random, 1 + random.below(6), 4, 0.5, -0.3).x;
        const LeastCosts costs = least_costs(problem, bucket_tree(problem, elimination_order(problem).order));
        std::vector<std::vector<double>> truth;
        for (Variable v = 0; v < problem.size(); ++v) truth.emplace_back(problem.states(v), infinite);
        double least = infinite;
        every_assignment(problem, [&](const std::vector<State>& states) {
            const double cost = value(problem, states);
            least = std::min(least, cost);
            for (Variable v = 0; v < problem.size(); ++v)
                truth[v][states[v]] = std::min(truth[v][states[v]], cost);
        });
        if (least == infinite) {
            EXPECT_EQ(costs.least, infinite);
            continue;
        }
        EXPECT_NEAR(costs.least, least, 1e-12) << "seed " << seed;
        for (Variable v = 0; v < problem.size(); ++v)
            for (State s = 0; s < problem.states(v); ++s) {
                if (truth[v][s] == infinite) {
                    EXPECT_EQ(costs.with[v][s], infinite) << "seed " << seed;
                } else {
                    EXPECT_NEAR(costs.with[v][s], truth[v][s], 1e-12) << "seed " << seed;
                }
            }
    }
}

}  // namespace
}  // namespace viridian::search
