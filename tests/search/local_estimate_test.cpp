#include "viridian/search/graphs/local_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "viridian/cost/synthetic.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/search/graphs/outer.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::search {
namespace {

Outcome whole(const graph::Graph& graph, const cost::PriceSource& source, const Objective& objective,
              const AssignOptions& options) {
    const auto instance = Instance::of(graph, source);
    return *solve(*instance, objective, options);
}

// Every substitution of two networks: the estimate from its neighbourhood against the cost of the whole.
void expect_estimates_near_the_whole(const char* network, const char* text) {
    auto graph = zoo::build(network, std::string_view(network) == "bert_base"
                                         ? zoo::Options{.sequence = 16, .layers = 2, .hidden = 128}
                                         : zoo::Options{});
    ASSERT_TRUE(graph.ok());
    ASSERT_TRUE(rewrite::simplify(*graph).ok());
    const cost::PriceSource source = cost::synthetic(1);
    const Objective objective = *parse_objective(text);
    AssignOptions options;
    const Outcome base = whole(*graph, source, objective, options);
    options.start = base.start;
    LocalEstimate near(*graph, base, source, objective, options, 3);
    const auto alternatives = rewrite::alternatives(*graph);
    ASSERT_TRUE(alternatives.ok());
    ASSERT_GT(alternatives->size(), 10u);
    std::size_t exact = 0;
    for (const rewrite::Alternative& one : *alternatives) {
        graph::Graph after = one.graph;
        ASSERT_TRUE(rewrite::simplify_near(after, rewrite::changed_nodes(*graph, after)).ok());
        const auto estimate = near.of(after);
        ASSERT_TRUE(estimate.ok()) << one.application.rule << ": " << estimate.error().text();
        const double truth = whole(after, source, objective, options).assignment.value;
        EXPECT_NEAR(*estimate, truth, 0.01 * std::abs(truth)) << network << " " << one.application.rule;
        exact += std::abs(*estimate - truth) <= 1e-9 * std::abs(truth) ? 1 : 0;
    }
    EXPECT_GE(exact * 2, alternatives->size()) << network << ": most are exact";
}

TEST(LocalEstimate, estimates_what_the_whole_costs) {
    expect_estimates_near_the_whole("squeezenet1_1", "energy");
    expect_estimates_near_the_whole("bert_base", "time");
    expect_estimates_near_the_whole("bert_base", "0.5*energy+0.5*time");
    expect_estimates_near_the_whole("squeezenet1_1", "energy^0.5*time^0.5");
}

TEST(LocalEstimate, finds_as_cheap_a_graph_with_fewer_whole_assignments) {
    auto graph = zoo::build("squeezenet1_1", {});
    ASSERT_TRUE(rewrite::simplify(*graph).ok());
    const cost::PriceSource source = cost::synthetic(1);
    OuterOptions options;
    options.method = OuterMethod::backtracking;
    options.most_graphs = 100;
    options.time_limit = Seconds(600);
    options.pricing = Pricing::whole;
    const auto slow = outer_search(*graph, source, Objective{}, options);
    options.pricing = Pricing::local;
    const auto fast = outer_search(*graph, source, Objective{}, options);
    ASSERT_TRUE(slow.ok() && fast.ok());
    EXPECT_LE(fast->outcome.assignment.value, slow->outcome.assignment.value * 1.002);
    EXPECT_LT(fast->whole * 2, slow->whole);
    const auto replayed = rewrite::replay(*graph, fast->certificate);
    ASSERT_TRUE(replayed.ok()) << replayed.error().text();
    EXPECT_EQ(structural_hash(*replayed), structural_hash(fast->graph));
}

// Not one rule that always pays is left to apply to what a search returns.
TEST(LocalEstimate, what_is_found_is_fully_simplified) {
    auto graph = zoo::build("squeezenet1_1", {});
    ASSERT_TRUE(rewrite::simplify(*graph).ok());
    OuterOptions options;
    options.most_graphs = 300;
    options.time_limit = Seconds(600);
    const auto found = outer_search(*graph, cost::synthetic(1), Objective{}, options);
    ASSERT_TRUE(found.ok());
    graph::Graph again = found->graph;
    const auto more = rewrite::simplify(again);
    ASSERT_TRUE(more.ok());
    EXPECT_TRUE(more->certificate.empty());
}

}  // namespace
}  // namespace viridian::search
