#include "viridian/profile/on_demand.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/simulated_device.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/profile/weights.hpp"

namespace viridian::profile {
namespace {

using graph::Graph;

constexpr execute::TimingProtocol quick = {.precision = 1, .budget = Seconds(0.001), .at_least = 2};

struct Session {
    std::unique_ptr<execute::Device> device;
    cost::Database database;
    EnergyPricer energy;

    static Session open() {
        auto device = execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {}});
        auto database = cost::Database::temporary();
        auto energy = EnergyPricer::open({.meter = "model"}, **device);
        EXPECT_TRUE(device.ok() && database.ok() && energy.ok());
        return {*std::move(device), *std::move(database), *std::move(energy)};
    }
    // Its machine is always equally fast.
    static Session simulated() {
        auto device = std::make_unique<execute::SimulatedDevice>();
        EnergyPricer energy = *EnergyPricer::open({.meter = "model"}, *device);
        return {std::move(device), *cost::Database::temporary(), std::move(energy)};
    }
    OnDemand costs(bool measure = true) {
        return {*device, database, energy, {.protocol = quick, .measure = measure}};
    }
};

graph::Tensor filled(const graph::Dims& dims, float value) {
    graph::Tensor tensor(graph::ElementType::f32, dims);
    for (float& element : tensor.mutable_values<float>()) element = value;
    return tensor;
}

// Relu(x) + x·W: the sum may take the buffer of Relu's result, unless that is also a result of the network.
Graph residual(bool read_later) {
    Graph graph;
    const graph::TensorType type{graph::ElementType::f32, graph::shape_of({8, 64})};
    const auto x = graph.add_input("x", type);
    const auto side = graph.add("Relu", {x});
    const auto product = graph.add("MatMul", {x, graph.add_constant("w", filled({64, 64}, 0.25F))});
    const auto sum = graph.add("Add", {product, side});
    graph.set_outputs(read_later ? std::vector{sum, side} : std::vector{sum});
    EXPECT_TRUE(graph::infer_types(graph).ok());
    return graph;
}

plan::Region product_and_sum(const Graph& graph) {
    const auto nodes = graph.nodes();
    return plan::make_region(graph, graph::uses(graph), {nodes[1], nodes[2]});
}

bool overwrites(const std::vector<cost::PricedChoice>& choices) {
    return std::ranges::any_of(
        choices, [](const auto& priced) { return priced.choice.aliasing == plan::Aliasing::overwrite; });
}

TEST(OnDemand, PricesAreTheSameWhereTheOperandLivesOn) {
    Session session = Session::open();
    const Graph lives = residual(true);
    const Graph dies = residual(false);
    ASSERT_EQ(plan::signature(lives, product_and_sum(lives)), plan::signature(dies, product_and_sum(dies)));

    OnDemand first = session.costs();
    const auto without = first.source().choices(lives, product_and_sum(lives));
    ASSERT_TRUE(without.ok()) << without.error().text();
    EXPECT_FALSE(without->empty());
    EXPECT_FALSE(overwrites(*without));
    EXPECT_GT(first.counts().misses, 0);

    OnDemand second = session.costs(false);
    const auto with = second.source().choices(dies, product_and_sum(dies));
    ASSERT_TRUE(with.ok()) << with.error().text();
    EXPECT_TRUE(overwrites(*with));
    EXPECT_EQ(second.counts().misses, 0);
}

// Kernels that store past the caches are not offered for a state, which was read into a cache already. One
// database serves both sums, in either order.
TEST(OnDemand, ASumThatBecomesAStateHasAListOfItsOwn) {
    const auto streams = [](Session& session, bool into_state) {
        Graph graph;
        const graph::TensorType type{graph::ElementType::f32, graph::shape_of({1024, 1024})};
        const auto sum = graph.add("Add", {graph.add_input("x", type), graph.add_input("y", type)});
        if (into_state) graph.set_after(graph.add_state("state", filled({1024, 1024}, 0)), sum);
        graph.set_outputs({sum});
        EXPECT_TRUE(graph::infer_types(graph).ok());
        OnDemand costs = session.costs();
        const auto choices =
            costs.source().choices(graph, plan::make_region(graph, graph::uses(graph), graph.nodes()));
        EXPECT_TRUE(choices.ok());
        return std::ranges::any_of(*choices, [](const auto& each) { return each.choice.variant.streams; });
    };
    for (const bool state_first : {false, true}) {
        Session session = Session::open();
        for (const bool into_state : {state_first, !state_first})
            EXPECT_EQ(streams(session, into_state), !into_state) << state_first;
    }
}

TEST(OnDemand, ACorrectionMultipliesAllSecondsAndNoStoredPrice) {
    Session session = Session::simulated();
    const Graph graph = residual(true);
    const plan::Region region = product_and_sum(graph);
    OnDemand as_timed = session.costs();
    const auto before = as_timed.source().choices(graph, region);
    OnDemand corrected(*session.device, session.database, session.energy,
                       {.protocol = quick, .measure = false, .correction = 1.25});
    const auto after = corrected.source().choices(graph, region);
    const auto again = session.costs(false).source().choices(graph, region);
    ASSERT_TRUE(before.ok() && after.ok() && again.ok());
    ASSERT_EQ(before->size(), after->size());
    for (std::size_t i = 0; i < before->size(); ++i) {
        const double seconds = (*before)[i].price.seconds.value;
        EXPECT_NEAR((*after)[i].price.seconds.value, 1.25 * seconds, 1e-12 * seconds);
        EXPECT_EQ((*again)[i].price.seconds.value, seconds);
    }
}

TEST(OnDemand, WithoutMeasuringAMissingPriceIsAnError) {
    Session session = Session::open();
    const Graph graph = residual(true);
    const auto priced = session.costs(false).source().choices(graph, product_and_sum(graph));
    ASSERT_FALSE(priced.ok());
    EXPECT_EQ(priced.error().code, ErrorCode::missing_entry);
}

TEST(OnDemand, ASurveyMeasuresNothingAndIsEmptyAfterwards) {
    Session session = Session::open();
    const Graph graph = residual(true);
    const plan::Region region = product_and_sum(graph);
    OnDemand costs = session.costs();
    Survey before;
    ASSERT_TRUE(costs.counting(before).choices(graph, region).ok());
    EXPECT_TRUE(before.known.empty());
    EXPECT_EQ(costs.counts().misses, 0);
    ASSERT_TRUE(costs.source().choices(graph, region).ok());
    EXPECT_EQ(static_cast<std::size_t>(costs.counts().misses), before.missing.size());
    std::set<std::string> measured;
    for (const auto& [price, work] : before.missing) {
        measured.insert(price);
        EXPECT_GT(work.flop, 0) << price;
        EXPECT_GT(work.bytes, 0) << price;
    }
    Survey after;
    ASSERT_TRUE(costs.counting(after).choices(graph, region).ok());
    EXPECT_TRUE(after.missing.empty());
    EXPECT_EQ(after.known, measured);
}

TEST(OnDemand, ConfirmsOnceAndKeepsWhatItFound) {
    Session session = Session::simulated();
    const Graph graph = residual(true);
    const plan::Region region = product_and_sum(graph);
    OnDemand costs = session.costs();
    const auto priced = costs.source().choices(graph, region);
    ASSERT_TRUE(priced.ok());
    const std::vector<plan::AssignedRegion> doubtful = {{region, priced->front().choice}};
    EXPECT_EQ(*costs.confirm(graph, doubtful), 1U);
    EXPECT_EQ(*costs.confirm(graph, doubtful), 0U);
    EXPECT_EQ(costs.counts().again, 1);
    const auto again = costs.source().choices(graph, region);
    const auto elsewhere = session.costs(false).source().choices(graph, region);
    ASSERT_TRUE(again.ok() && elsewhere.ok());
    EXPECT_EQ(again->front().price.seconds, elsewhere->front().price.seconds);
    EXPECT_LE(again->front().price.low, again->front().price.seconds);
    EXPECT_GE(again->front().price.high, again->front().price.seconds);
}

TEST(OnDemand, TheReferenceIsLeftWhereAllElseIsForbidden) {
    Session session = Session::open();
    const Graph graph = residual(true);
    const plan::Region product = plan::make_region(graph, graph::uses(graph), {graph.nodes()[1]});
    const std::string signature = plan::signature(graph, product);
    OnDemand costs = session.costs();
    auto priced = costs.source().choices(graph, product);
    ASSERT_TRUE(priced.ok());
    const std::size_t offered = priced->size();
    ASSERT_GT(offered, 1U);
    costs.forbid(signature, priced->front().choice.key());
    EXPECT_EQ(costs.source().choices(graph, product)->size(), offered - 1);
    EXPECT_EQ(costs.source().choices(graph, product_and_sum(graph))->empty(), false) << "another region";
    costs.forbid_all_but_reference(signature);
    priced = costs.source().choices(graph, product);
    ASSERT_TRUE(priced.ok() && priced->size() == 1);
    EXPECT_EQ(priced->front().choice.kernel, "reference");
    EXPECT_GT(priced->front().price.seconds, Seconds(0));
    costs.forbid(signature, priced->front().choice.key());
    EXPECT_TRUE(costs.source().choices(graph, product)->empty());
}

TEST(OnDemand, EntriesSayThatNothingWasCompared) { EXPECT_TRUE(std::isnan(cost::Entry().error)); }

// 16 KiB of weights: estimated joules hold their traffic where they come from memory, none from the cache.
TEST(OnDemand, CachedWeightsCostNoMemoryTraffic) {
    const Graph graph = residual(true);
    ASSERT_TRUE(weights_stay_cached(graph));
    const plan::Region product = plan::make_region(graph, graph::uses(graph), {graph.nodes()[1]});
    for (const bool cached : {false, true}) {
        Session session = Session::open();
        OnDemand costs = session.costs();
        if (cached) costs.price_for(graph);
        const auto priced = costs.source().choices(graph, product);
        ASSERT_TRUE(priced.ok());
        const cost::Price& price = priced->front().price;
        const Energy expected = session.energy.model.estimate(
            price.seconds, 1, cost::InstructionClass::vector, Bytes(cached ? 0 : 64 * 64 * 4));
        EXPECT_DOUBLE_EQ(price.energy.value.value, expected.value.value);
    }
}

}  // namespace
}  // namespace viridian::profile
