#include "viridian/search/graphs/search_state.hpp"

#include <gtest/gtest.h>

#include "random_network.hpp"
#include "viridian/cost/synthetic.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::search {
namespace {

// A plain kernel for every single node whose output is no larger than `most` elements: a second, and a
// thousandth for each element.
cost::PriceSource small_kernels(std::int64_t most) {
    return {[most](const graph::Graph& graph,
                   const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
                std::int64_t elements = 1;
                for (const std::int64_t d : graph.value(region.outputs[0]).type.dims()) elements *= d;
                if (region.nodes.size() > 1 || elements > most) return std::vector<cost::PricedChoice>{};
                const auto plain = [&](graph::ValueId v) {
                    const graph::TensorType& type = graph.value(v).type;
                    return plan::Format{plan::plain(type.dims().size()), type.element, {}};
                };
                plan::Choice choice;
                choice.kernel = "plain";
                for (const graph::ValueId v : region.inputs) choice.inputs.push_back(plain(v));
                for (const graph::ValueId v : region.outputs) choice.outputs.push_back(plain(v));
                const double seconds = 1 + 1e-3 * static_cast<double>(elements);
                return std::vector<cost::PricedChoice>{{choice, tests::price(seconds, 1)}};
            },
            [](const graph::Dims&, const plan::Format&, const plan::Format&) -> Result<cost::Price> {
                return tests::price(1, 1);
            }};
}

// Two products of one input, 4 × 8 and 4 × 16 elements, to be stacked to 4 × 24.
graph::Graph two_products() {
    graph::Graph graph;
    const graph::ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({4, 8})});
    const auto product = [&](std::int64_t columns) {
        std::vector<float> weights(static_cast<std::size_t>(8 * columns), 0.5F);
        return graph.add("MatMul", {x, graph.add_constant("w", graph::Tensor::f32({8, columns}, weights))});
    };
    graph.set_outputs({graph.add("Relu", {product(8)}), graph.add("Relu", {product(16)})});
    EXPECT_TRUE(graph::infer_types(graph).ok());
    return graph;
}

TEST(SearchState, counts_the_graphs_without_a_price) {
    for (const OuterMethod method : {OuterMethod::backtracking, OuterMethod::joint})
        for (const Pricing pricing : {Pricing::whole, Pricing::local}) {
            OuterOptions options;
            options.method = method;
            options.pricing = pricing;
            options.alpha = 2;
            const auto full = outer_search(two_products(), small_kernels(1000), Objective{}, options);
            ASSERT_TRUE(full.ok()) << full.error().text();
            EXPECT_EQ(full->unpriced, 0U);
            const auto few = outer_search(two_products(), small_kernels(64), Objective{}, options);
            ASSERT_TRUE(few.ok()) << few.error().text();
            EXPECT_GT(few->unpriced, 0U);
            EXPECT_LT(few->unpriced, few->graphs);
            if (method != OuterMethod::backtracking || pricing != Pricing::whole) continue;
            // Every graph that was looked at either has an assignment or is among those left out.
            std::size_t assigned = 0;
            options.visited = [&](const graph::Graph&, const Outcome&) { ++assigned; };
            const auto seen = outer_search(two_products(), small_kernels(64), Objective{}, options);
            ASSERT_TRUE(seen.ok()) << seen.error().text();
            EXPECT_EQ(seen->graphs, assigned + seen->unpriced);
        }
}

// On the way gaps are left a little open; the graph that is kept is solved to proof.
TEST(SearchState, ends_with_a_proven_plan_whatever_it_left_open_on_the_way) {
    graph::Graph graph = *zoo::build("squeezenet1_1");
    ASSERT_TRUE(rewrite::simplify(graph).ok());
    const cost::PriceSource source = cost::synthetic(1);
    for (const char* text : {"0.5*power+0.5*energy", "energy @ time<=0.8x"}) {
        OuterOptions options;
        options.method = OuterMethod::backtracking;
        options.pricing = Pricing::whole;
        options.most_graphs = 20;
        std::size_t open = 0;
        options.visited = [&](const graph::Graph&, const Outcome& outcome) {
            open += outcome.assignment.gap() > 0 ? 1 : 0;
        };
        const auto found = outer_search(graph, source, *parse_objective(text), options);
        ASSERT_TRUE(found.ok()) << found.error().text();
        EXPECT_EQ(found->graphs, 20U);
        EXPECT_GT(open, 0U) << text;
        EXPECT_EQ(found->outcome.assignment.gap(), 0) << text;
    }
}

// Whichever strategy finds it, a better plan is told once, and the last one told is what is returned.
TEST(SearchState, tells_each_better_plan_once) {
    graph::Graph graph = *zoo::build("squeezenet1_1");
    ASSERT_TRUE(rewrite::simplify(graph).ok());
    for (const OuterMethod method : {OuterMethod::backtracking, OuterMethod::joint}) {
        OuterOptions options;
        options.method = method;
        options.most_graphs = 200;
        options.time_limit = Seconds(600);
        const auto found = outer_search(graph, cost::synthetic(1), *parse_objective("energy"), options);
        ASSERT_TRUE(found.ok()) << found.error().text();
        const std::vector<OuterProgress>& told = found->improvements;
        EXPECT_GT(told.size(), 2U);
        for (std::size_t i = 1; i < told.size(); ++i) EXPECT_LT(told[i].best, told[i - 1].best);
        EXPECT_LE(found->outcome.assignment.value, told.back().best);
        EXPECT_NEAR(found->outcome.assignment.value, told.back().best, 1e-3 * told.back().best);
    }
}

// One node of `elements` elements.
RewrittenGraph relu(std::int64_t elements) {
    RewrittenGraph one;
    const graph::TensorType type{graph::ElementType::f32, graph::shape_of({elements})};
    const graph::ValueId out = one.graph.add("Relu", {one.graph.add_input("x", type)});
    one.graph.set_type(out, type);
    one.graph.set_outputs({out});
    return one;
}

TEST(SearchState, counts_the_graphs_that_too_many_cheaper_ones_crowd_out) {
    constexpr std::int64_t room = 4096, more = 5;
    const cost::PriceSource source = small_kernels(1 << 20);
    const Objective objective;
    OuterOptions options;
    options.alpha = 100;
    options.most_graphs = 100000;
    options.pricing = Pricing::whole;
    SearchState state(source, objective, options);
    ASSERT_TRUE(state.begin(relu(1).graph).ok());
    Strategy& strategy = state.lead();
    // The dearest first, so that every later one takes the place of the dearest.
    for (std::int64_t elements = room + more; elements > 0; --elements) {
        RewrittenGraph graph = relu(elements + 1);
        const auto priced = strategy.price(graph);
        ASSERT_TRUE(priced.ok() && *priced);
    }
    const std::optional<RewrittenGraph> cheapest = strategy.next();
    ASSERT_TRUE(cheapest.has_value());
    EXPECT_NEAR(cheapest->cost, 1.002, 1e-12);
    double dearest = 0;
    std::int64_t waiting = 1;
    for (auto graph = strategy.next(); graph; graph = strategy.next(), ++waiting) dearest = graph->cost;
    EXPECT_EQ(waiting, room);
    EXPECT_NEAR(dearest, 1 + 1e-3 * static_cast<double>(room + 1), 1e-9);
    const auto result = std::move(state).finish();
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_EQ(result->crowded_out, static_cast<std::size_t>(more));
    EXPECT_EQ(result->unpriced, 0U);
}

}  // namespace
}  // namespace viridian::search
