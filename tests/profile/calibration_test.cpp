#include "viridian/profile/calibration.hpp"

#include <gtest/gtest.h>

#include "tests/support/simulated_device.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/profile/on_demand.hpp"

namespace viridian::profile {
namespace {

using graph::Graph;

// A device that is `slow` times slower than it should be, and can become so after some more timings.
class UnsteadyDevice final : public execute::SimulatedDevice {
  public:
    double slow = 1;
    int timings = 0;
    int until = -1;  // so many timings are left until `slow` becomes `later`; never if negative
    double later = 1;

    Result<execute::Timing> time(const Graph& graph, const plan::Region& region, const plan::Choice& choice,
                                 const execute::TimingProtocol& protocol) override {
        return scaled(SimulatedDevice::time(graph, region, choice, protocol));
    }
    Result<execute::Timing> time_conversion(const graph::Dims& dims, const plan::Format& from,
                                            const plan::Format& to,
                                            const execute::TimingProtocol& protocol) override {
        return scaled(SimulatedDevice::time_conversion(dims, from, to, protocol));
    }

  private:
    Result<execute::Timing> scaled(Result<execute::Timing> timing) {
        ++timings;
        if (until-- == 0) slow = later;
        if (!timing.ok()) return timing;
        for (Seconds* s : {&timing->minimum, &timing->median, &timing->low, &timing->high}) *s = *s * slow;
        return timing;
    }
};

Graph network() {
    Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({8, 64})});
    graph.set_outputs({graph.add(
        "MatMul", {x, graph.add_constant("w", graph::Tensor(graph::ElementType::f32, {64, 64}))})});
    EXPECT_TRUE(graph::infer_types(graph).ok());
    return graph;
}

struct Bench {
    UnsteadyDevice device;
    cost::Database database = *cost::Database::temporary();
    EnergyPricer energy = *EnergyPricer::open({.meter = "model"}, device);
    Seconds patience{0};
    Graph graph = network();
    plan::Region region = plan::make_region(graph, graph::uses(graph), {graph.nodes().front()});

    OnDemand costs() {
        OnDemandOptions options;
        options.probe_every = Seconds(0);
        options.patience = patience;
        return {device, database, energy, options};
    }
    Seconds price(OnDemand& costs) {
        const auto priced = costs.source().choices(graph, region);
        EXPECT_TRUE(priced.ok()) << priced.error().text();
        return priced.ok() ? priced->front().price.seconds : Seconds(-1);
    }
};

cost::ProbeTimes probes(double arithmetic, double memory) { return {Seconds(arithmetic), Seconds(memory)}; }

TEST(Calibration, IsOfTheStateThatLasts) {
    UnsteadyDevice device;
    Calibration calibration(device);
    ASSERT_TRUE(calibration.look().ok());
    const cost::ProbeTimes usual = calibration.last();
    device.slow = 2;
    device.later = 1;
    device.until = 5;  // a disturbance ends during the third look
    ASSERT_TRUE(calibration.settle().ok());
    EXPECT_TRUE(alike(calibration.last(), usual, 1e-9));
    device.slow = 2;
    device.until = -1;  // a spell stays
    ASSERT_TRUE(calibration.settle().ok());
    EXPECT_NEAR(calibration.last().arithmetic / usual.arithmetic, 2, 1e-9);
    EXPECT_NEAR(calibration.last().memory / usual.memory, 2, 1e-9);
}

TEST(Calibration, AFactorFollowsTheProbeThatBoundsTheKernel) {
    const Drift drift{probes(1e-3, 1e-3), probes(2e-3, 4e-3)};
    EXPECT_DOUBLE_EQ(drift.factor({1e9, 0}), 2);
    EXPECT_DOUBLE_EQ(drift.factor({0, 1e9}), 4);
    const double both = drift.factor({1e9, 1e9});
    EXPECT_GT(both, 2);
    EXPECT_LT(both, 4);
    EXPECT_DOUBLE_EQ((Drift{drift.now, drift.then}.factor({1e9, 0})), 0.5);
    EXPECT_EQ((Drift{{}, drift.now}.factor({1e9, 1e9})), 1) << "prices of before the probes";
    EXPECT_EQ((Drift{drift.now, {}}.factor({1e9, 1e9})), 1);
    EXPECT_EQ((Drift{probes(1e-9, 1e-9), probes(1, 1)}.factor({1, 1})), Drift::limit);
}

TEST(Calibration, StatesAreAlikeWithinAShare) {
    EXPECT_TRUE(alike(probes(1, 1), probes(1.1, 0.95), 0.15));
    EXPECT_FALSE(alike(probes(1, 1), probes(1, 1.2), 0.15));
    EXPECT_FALSE(alike(probes(1, 1), probes(0.8, 1), 0.15));
    EXPECT_TRUE(alike(probes(1, 1), {}, 0.15));
}

TEST(Calibration, PricesOfASlowSpellAreGivenAsTheyAreNow) {
    Bench bench;
    OnDemand fast = bench.costs();
    const Seconds usual = bench.price(fast);

    Bench slow;
    slow.device.slow = 3;
    OnDemand first = slow.costs();
    EXPECT_DOUBLE_EQ(slow.price(first).value, 3 * usual.value) << "as it was timed";
    slow.device.slow = 1;
    OnDemand later = slow.costs();
    ASSERT_TRUE(later.calibrate().ok());
    EXPECT_NEAR(slow.price(later).value, usual.value, 1e-9 * usual.value);
    EXPECT_EQ(later.counts().misses, 0);
    slow.device.slow = 2;
    EXPECT_NEAR(slow.price(later).value, usual.value, 1e-9 * usual.value) << "until it is calibrated again";
    const auto drift = later.drift();
    ASSERT_TRUE(drift.ok());
    EXPECT_DOUBLE_EQ(drift->factor({1, 1}), 2);
    ASSERT_TRUE(later.calibrate().ok());
    EXPECT_NEAR(slow.price(later).value, 2 * usual.value, 1e-9 * usual.value);
}

TEST(Calibration, ABatchDuringWhichTheMachineChangesIsTimedAgain) {
    Bench calm;
    OnDemand costs = calm.costs();
    const Seconds usual = calm.price(costs);
    const int timings = calm.device.timings;

    Bench bench;
    bench.device.slow = 3;
    bench.device.until = 5;  // two looks at two probes, one timing, then it is fast
    OnDemand changing = bench.costs();
    EXPECT_DOUBLE_EQ(bench.price(changing).value, usual.value);
    EXPECT_GT(bench.device.timings, timings);
    OnDemand again = bench.costs();
    ASSERT_TRUE(again.calibrate().ok());
    EXPECT_DOUBLE_EQ(bench.price(again).value, usual.value);
}

TEST(Calibration, ALookThatIsDisturbedChangesNoPrice) {
    Bench calm;
    OnDemand costs = calm.costs();
    const Seconds usual = calm.price(costs);

    Bench bench;
    bench.device.slow = 3;
    bench.device.until = 2;  // one look
    OnDemandOptions options;
    options.probe_every = Seconds(1000);  // no look after the price
    OnDemand disturbed(bench.device, bench.database, bench.energy, options);
    EXPECT_DOUBLE_EQ(bench.price(disturbed).value, usual.value);
    OnDemand later = bench.costs();
    ASSERT_TRUE(later.calibrate().ok());
    EXPECT_NEAR(bench.price(later).value, usual.value, 1e-9 * usual.value);
}

TEST(Calibration, TheMiddleOfTwoProbeTimes) {
    EXPECT_EQ(between(probes(1, 4), {}), probes(1, 4));
    EXPECT_EQ(between({}, probes(1, 4)), probes(1, 4));
    EXPECT_NEAR(between(probes(1, 4), probes(4, 1)).arithmetic.value, 2, 1e-12);
    EXPECT_NEAR(between(probes(1, 4), probes(4, 1)).memory.value, 2, 1e-12);
}

// The five occasions of a price that a disturbance reached lie far apart.
TEST(Calibration, APriceWhoseOccasionsDisagreeIsReplacedOnce) {
    Bench bench;
    OnDemand costs = bench.costs();
    const Seconds usual = bench.price(costs);
    const auto priced = costs.source().choices(bench.graph, bench.region);
    const std::vector<plan::AssignedRegion> doubtful = {{bench.region, priced->front().choice}};
    cost::Key key{plan::signature(bench.graph, bench.region),
                  priced->front().choice.key(),
                  bench.device.fingerprint(),
                  bench.device.library(),
                  bench.device.threads(),
                  0,
                  bench.energy.key()};
    std::optional<cost::Entry> entry;
    for (int protocol = 1; !entry && protocol < 100; ++protocol) {
        key.protocol = protocol;
        entry = *bench.database.get(key);
    }
    ASSERT_TRUE(entry);
    entry->looks = 5;
    entry->low = usual * 0.5;
    entry->high = entry->median = usual;
    ASSERT_TRUE(bench.database.put(key, *entry).ok());
    OnDemand again = bench.costs();
    EXPECT_EQ(*again.confirm(bench.graph, doubtful), 1U);
    EXPECT_EQ(*again.confirm(bench.graph, doubtful), 0U);
}

TEST(Calibration, APriceOfAFasterStateStays) {
    Bench bench;
    OnDemand costs = bench.costs();
    const Seconds usual = bench.price(costs);
    const auto priced = costs.source().choices(bench.graph, bench.region);
    const std::vector<plan::AssignedRegion> doubtful = {{bench.region, priced->front().choice}};
    bench.device.slow = 3;
    EXPECT_EQ(*costs.confirm(bench.graph, doubtful), 1U) << "timed on one occasion";
    EXPECT_EQ(*costs.confirm(bench.graph, doubtful), 0U);
    bench.device.slow = 1;
    EXPECT_EQ(*costs.confirm(bench.graph, doubtful), 0U);
    ASSERT_TRUE(costs.calibrate().ok());
    EXPECT_NEAR(bench.price(costs).value, usual.value, 1e-9 * usual.value);
}

TEST(Calibration, WaitsForASlowSpellToEndBeforeItTimesPrices) {
    Bench bench;
    bench.patience = Seconds(10);
    OnDemand costs = bench.costs();
    const Seconds usual = bench.price(costs);
    const auto priced = costs.source().choices(bench.graph, bench.region);
    const std::vector<plan::AssignedRegion> doubtful = {{bench.region, priced->front().choice}};
    bench.device.slow = 3;
    bench.device.later = 1;
    bench.device.until = 8;  // the spell ends while somebody waits
    OnDemand later = bench.costs();
    EXPECT_EQ(*later.confirm(bench.graph, doubtful), 1U);
    EXPECT_LT(bench.device.until, 0);
    bench.patience = Seconds(0.05);
    bench.device.slow = 3;
    OnDemand impatient = bench.costs();
    ASSERT_TRUE(impatient.calibrate().ok());
    EXPECT_NEAR(bench.price(impatient).value, 3 * usual.value, 1e-9 * usual.value)
        << "all occasions were fast";
}

TEST(Calibration, SlowerIsWhatTakesLonger) {
    EXPECT_TRUE(slower(probes(1, 2), probes(1, 1), 0.25));
    EXPECT_FALSE(slower(probes(1, 1), probes(1, 2), 0.25));
    EXPECT_FALSE(slower(probes(1.2, 1.2), probes(1, 1), 0.25));
    EXPECT_FALSE(slower({}, probes(1, 1), 0.25));
}

TEST(Calibration, APriceOfAnotherStateIsReplacedWhenItIsConfirmed) {
    Bench bench;
    bench.device.slow = 3;
    OnDemand costs = bench.costs();
    const Seconds slow = bench.price(costs);
    const auto priced = costs.source().choices(bench.graph, bench.region);
    const std::vector<plan::AssignedRegion> doubtful = {{bench.region, priced->front().choice}};
    EXPECT_EQ(*costs.confirm(bench.graph, doubtful), 1U);
    EXPECT_EQ(*costs.confirm(bench.graph, doubtful), 0U) << "confirmed, and of this state";
    bench.device.slow = 1;
    EXPECT_EQ(*costs.confirm(bench.graph, doubtful), 1U);
    EXPECT_EQ(*costs.confirm(bench.graph, doubtful), 0U);
    EXPECT_DOUBLE_EQ(bench.price(costs).value, slow.value / 3);
}

}  // namespace
}  // namespace viridian::profile
