#include "viridian/search/graphs/outer.hpp"

#include <gtest/gtest.h>

#include "random_network.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::search {
namespace {

// One plain kernel per node; regions of several nodes have none. Every launch costs one second, and every
// element of an output a little.
cost::PriceSource launches() {
    return {
        [](const graph::Graph& graph, const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
            if (region.nodes.size() > 1) return std::vector<cost::PricedChoice>{};
            double elements = 0;
            plan::Choice choice;
            choice.kernel = "plain";
            for (const graph::ValueId v : region.inputs)
                choice.inputs.push_back(
                    {plan::plain(graph.value(v).type.dims().size()), graph.value(v).type.element, {}});
            for (const graph::ValueId v : region.outputs) {
                choice.outputs.push_back(
                    {plan::plain(graph.value(v).type.dims().size()), graph.value(v).type.element, {}});
                for (const std::int64_t d : graph.value(v).type.dims()) elements += static_cast<double>(d);
            }
            return std::vector<cost::PricedChoice>{{choice, tests::price(1 + 1e-6 * elements, 1)}};
        },
        [](const graph::Dims&, const plan::Format&, const plan::Format&) -> Result<cost::Price> {
            return tests::price(1, 1);
        }};
}

class Outer : public testing::TestWithParam<OuterMethod> {};
INSTANTIATE_TEST_SUITE_P(EveryMethod, Outer, testing::Values(OuterMethod::joint, OuterMethod::backtracking),
                         [](const auto& p) { return std::string(name_of(p.param)); });

TEST_P(Outer, finds_cheaper_graphs_that_replay_and_repeats_itself) {
    int cheaper = 0, rules = 0;
    for (const rewrite::Rule& rule : rewrite::rules()) {
        if (rule.kind != rewrite::Kind::alternative || rule.instance == nullptr) continue;
        ++rules;
        Random random(7);
        graph::Graph graph = rule.instance(random, graph::ElementType::f32);
        ASSERT_TRUE(graph::infer_types(graph).ok());
        OuterOptions options;
        options.method = GetParam();
        options.most_graphs = 60;
        options.alpha = 1.2;
        const auto found = outer_search(graph, launches(), Objective{}, options);
        ASSERT_TRUE(found.ok()) << rule.name << ": " << found.error().text();
        const auto again = outer_search(graph, launches(), Objective{}, options);
        EXPECT_EQ(found->outcome.assignment.value, again->outcome.assignment.value) << rule.name;
        EXPECT_EQ(structural_hash(found->graph), structural_hash(again->graph)) << rule.name;
        const auto replayed = rewrite::replay(graph, found->certificate);
        ASSERT_TRUE(replayed.ok()) << rule.name << ": " << replayed.error().text();
        EXPECT_EQ(structural_hash(*replayed), structural_hash(found->graph)) << rule.name;
        OuterOptions none = options;
        none.most_graphs = 1;
        const auto start = outer_search(graph, launches(), Objective{}, none);
        EXPECT_LE(found->outcome.assignment.value, start->outcome.assignment.value);
        cheaper += found->outcome.assignment.value < start->outcome.assignment.value ? 1 : 0;
    }
    EXPECT_GT(rules, 0);
    EXPECT_GT(cheaper, 0);
}

// Weights that rules merge are large enough to be stood in for; what comes back holds the merged numbers.
TEST_P(Outer, large_weights_are_computed_in_the_graph_that_is_kept) {
    Random random(3);
    const auto weights = [&] {
        graph::Tensor tensor(graph::ElementType::f32, {300, 300});
        for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.normal());
        return tensor;
    };
    graph::Graph graph;
    const graph::ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({4, 300})});
    const graph::ValueId a = graph.add("MatMul", {x, graph.add_constant("a", weights())});
    const graph::ValueId b = graph.add("MatMul", {x, graph.add_constant("b", weights())});
    graph.set_outputs({graph.add("Add", {a, b})});
    ASSERT_TRUE(graph::infer_types(graph).ok());
    OuterOptions options;
    options.method = GetParam();
    const auto found = outer_search(graph, launches(), Objective{}, options);
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(found->graph.nodes().size(), 1U);  // x · (a + b)
    const auto replayed = rewrite::replay(graph, found->certificate);
    ASSERT_TRUE(replayed.ok()) << replayed.error().text();
    EXPECT_EQ(structural_hash(*replayed), structural_hash(found->graph));
    graph::Tensor input(graph::ElementType::f32, {4, 300});
    for (float& value : input.mutable_values<float>()) value = static_cast<float>(random.normal());
    const auto before = graph::evaluate(graph, {input});
    const auto after = graph::evaluate(found->graph, {input});
    ASSERT_TRUE(before.ok() && after.ok());
    for (std::int64_t i = 0; i < 1200; ++i) ASSERT_NEAR((*before)[0].number(i), (*after)[0].number(i), 1e-3);
}

// What one node of `elements` costs: a launch, and more by element where they do not fit the cache.
cost::PriceSource caches(double launch) {
    const cost::PriceSource plain = launches();
    return {[=](const graph::Graph& graph,
                const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
                VIRIDIAN_TRY(auto choices, plain.choices(graph, region));
                for (cost::PricedChoice& priced : choices) {
                    const bool moves = graph.node(region.nodes[0]).op == graph::op::Split ||
                                       graph.node(region.nodes[0]).op == graph::op::Concat;
                    double elements = 0;
                    for (const graph::ValueId v : region.outputs)
                        elements += static_cast<double>(*graph::element_count(graph.value(v).type.dims()));
                    const double seconds = moves ? 0.01 : launch + elements * (elements > 100 ? 2 : 1);
                    priced.price = tests::price(seconds, 1);
                }
                return choices;
            },
            plain.conversion};
}

TEST_P(Outer, samples_go_through_one_by_one_where_that_pays) {
    for (const auto& [launch, samples, pays] :
         {std::tuple{1.0, 8, true}, std::tuple{22.37, 8, false}, std::tuple{1.0, 1, false}}) {
        Random random(5);
        graph::Graph graph;
        graph::ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({samples, 20})});
        for (const char* op : {"Tanh", "Exp", "Tanh", "Sin", "Tanh"}) x = graph.add(op, {x});
        graph.set_outputs({x});
        ASSERT_TRUE(graph::infer_types(graph).ok());
        OuterOptions options;
        options.method = GetParam();
        const auto found = outer_search(graph, caches(launch), Objective{}, options);
        ASSERT_TRUE(found.ok()) << found.error().text();
        EXPECT_EQ(found->graph.nodes().size() > 5, pays) << "a launch of " << launch;
        if (!pays) continue;
        EXPECT_EQ(found->graph.nodes().size(), 8U * 5 + 2);
        ASSERT_EQ(found->certificate.size(), 1U);
        EXPECT_EQ(found->certificate[0].rule, "split_batch");
        const auto replayed = rewrite::replay(graph, found->certificate);
        ASSERT_TRUE(replayed.ok()) << replayed.error().text();
        EXPECT_EQ(structural_hash(*replayed), structural_hash(found->graph));
        options.rules.without = {"split_batch"};
        EXPECT_EQ(outer_search(graph, caches(launch), Objective{}, options)->graph.nodes().size(), 5U);
        options = {};
        options.method = OuterMethod::none;
        EXPECT_EQ(outer_search(graph, caches(launch), Objective{}, options)->graph.nodes().size(), 5U);
    }
}

// A source that takes its time is not asked any more once the budget is spent.
TEST_P(Outer, ends_in_time_whatever_a_price_takes) {
    Random random(7);
    graph::Graph graph = rewrite::find_rule("stack_matmuls")->instance(random, graph::ElementType::f32);
    ASSERT_TRUE(graph::infer_types(graph).ok());
    int asked = 0;
    const cost::PriceSource quick = launches();
    const cost::PriceSource slow = {[&](const graph::Graph& of, const plan::Region& region) {
                                        ++asked;
                                        return quick.choices(of, region);
                                    },
                                    quick.conversion};
    OuterOptions options;
    options.method = GetParam();
    options.time_limit = Seconds(0);
    const auto found = outer_search(graph, slow, Objective{}, options);
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(found->ended_by, EndedBy::time);
    const int first = asked;
    asked = 0;
    options.most_graphs = 1;
    ASSERT_TRUE(outer_search(graph, slow, Objective{}, options).ok());
    EXPECT_EQ(first, asked);  // those of the given graph alone
}

}  // namespace
}  // namespace viridian::search
