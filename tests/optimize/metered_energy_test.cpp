// `optimize` with a meter whose counters are driven by the kernel that runs: kernels called lean are slower
// and take fewer joules.
#include <gmock/gmock.h>

#include "tests/support/power_source.hpp"
#include "tests/support/simulated_device.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/packages.hpp"
#include "viridian/optimize/optimize.hpp"

namespace viridian::optimize {
namespace {

using meter::tests::PowerSource;
using testing::HasSubstr;

// Its kernels do nothing for the time that they are repeated, and set the watts meanwhile.
class MeteredDevice final : public execute::SimulatedDevice {
  public:
    explicit MeteredDevice(PowerSource& power) : power_(power) {}

    static bool is_lean(const std::string& kernel) { return kernel.starts_with("lean"); }

    Result<void> repeat(const graph::Graph&, const plan::Region&, const plan::Choice& choice,
                        const execute::TimingProtocol&, Seconds at_least,
                        const execute::Window& window) override {
        ++repeated;
        if (before) before();
        window([&] { draw(is_lean(choice.kernel) ? 20 : 100, at_least); });
        return {};
    }
    Result<void> repeat_conversion(const graph::Dims&, const plan::Format&, const plan::Format&,
                                   Seconds at_least, const execute::Window& window) override {
        window([&] { draw(100, at_least); });
        return {};
    }
    std::function<void()> before;     // called before each window opens, if it is set
    std::function<void()> meanwhile;  // called in the middle of each repetition, if it is set
    int repeated = 0;

  private:
    void draw(double watts, Seconds at_least) {
        // The counter is renewed here too, in case its own thread gets no processor.
        const auto half = [&] {
            const auto begin = std::chrono::steady_clock::now();
            while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
                   at_least.value / 2) {
                power_.draw(watts);
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        };
        half();
        if (meanwhile) meanwhile();
        half();
        power_.draw(PowerSource::idle_watts);
    }

    PowerSource& power_;
};

graph::Graph convolution_sigmoid_softmax() {
    graph::Graph graph;
    graph::ValueId value = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, 8, 9, 9})});
    graph::Tensor weights(graph::ElementType::f32, {8, 8, 3, 3});
    float w = 0.1F;
    for (float& element : weights.mutable_values<float>()) element = w = w > 1 ? w - 1.93F : w + 0.37F;
    value = graph.add("Conv", {value, graph.add_constant("w", weights)}, {{"pads", graph::Dims{1, 1, 1, 1}}});
    graph.set_outputs({graph.add("Softmax", {graph.add("Sigmoid", {value})})});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

struct MeteredBench {
    PowerSource power;
    MeteredDevice device{power};
    cost::Database database = *cost::Database::temporary();

    Result<Optimized> optimize(const std::string& objective, const std::string& meter = "powercap") {
        auto costs = MeasuredCosts::open(device, database, {.meter = meter, .paths = power.paths()}, "f32");
        if (!costs.ok()) return std::move(costs).error();
        OptimizeOptions options;
        options.objective = *search::parse_objective(objective);
        options.method = search::OuterMethod::none;
        options.proofs = 1;
        Listener listener;
        return optimize::optimize(convolution_sigmoid_softmax(), **costs, &device, options, listener);
    }
};

std::vector<bool> lean_kernels(const Optimized& result) {
    std::vector<bool> lean;
    for (const plan::AssignedRegion& assigned : result.optimized.planned.plan.assignment.regions)
        if (assigned.choice.aliasing != plan::Aliasing::view)
            lean.push_back(MeteredDevice::is_lean(assigned.choice.kernel));
    return lean;
}

TEST(MeteredEnergy, TheObjectiveChoosesTheSlowKernelThatDrawsLess) {
    MeteredBench bench;
    const auto lean = bench.optimize("energy");
    ASSERT_TRUE(lean.ok()) << lean.error().text();
    EXPECT_THAT(lean_kernels(*lean), testing::Each(true));
    EXPECT_EQ(lean->optimized.measured->energy.provenance.text(), "measured:powercap");
    EXPECT_EQ(lean->optimized.planned.plan.predicted_energy.provenance.text(), "measured:powercap");
    const auto fast = bench.optimize("time");
    ASSERT_TRUE(fast.ok()) << fast.error().text();
    EXPECT_THAT(lean_kernels(*fast), testing::Each(false));
    EXPECT_LT(fast->optimized.planned.totals.seconds, lean->optimized.planned.totals.seconds);
    EXPECT_GT(fast->optimized.planned.totals.joules, lean->optimized.planned.totals.joules);
}

// The second package draws nearly everything; one package alone would rank all kernels by their seconds.
TEST(MeteredEnergy, AllPackagesThatThreadsMayRunOnAreAddedUp) {
    MeteredBench bench;
    const auto result = bench.optimize("energy");
    ASSERT_TRUE(result.ok()) << result.error().text();
    const search::Metrics& totals = result->optimized.planned.totals;
    const double watts = totals.joules.value / totals.seconds.value;
    EXPECT_GT(watts, 15);  // 20 and 5 while lean kernels run, a little less at the edges of a window
    EXPECT_LT(watts, 40);
}

TEST(MeteredEnergy, MeasuredAndEstimatedJoulesNeverMeet) {
    MeteredBench bench;
    const auto estimated = bench.optimize("energy", "model");
    ASSERT_TRUE(estimated.ok()) << estimated.error().text();
    EXPECT_EQ(bench.device.repeated, 0);
    const std::int64_t prices = estimated->prices.misses;
    const auto measured = bench.optimize("energy");
    ASSERT_TRUE(measured.ok()) << measured.error().text();
    EXPECT_EQ(measured->prices.misses, prices) << "all joules are metered, though all seconds are known";
    for (const cost::Price& price : measured->optimized.planned.prices)
        EXPECT_EQ(price.energy.provenance.text(), "measured:powercap");
    const auto again = bench.optimize("energy", "model");
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->prices.misses, 0);
    for (const cost::Price& price : again->optimized.planned.prices)
        EXPECT_EQ(price.energy.provenance.text(), "estimated:cpu-linear");
}

TEST(MeteredEnergy, AFaultInTheMiddleOfAWindowIsAnErrorAndNoPrice) {
    const std::vector<std::pair<std::string, std::function<void(MeteredBench&)>>> faults = {
        {"reset", [](MeteredBench& bench) { bench.power.resets = true; }},
        {"unreadable", [](MeteredBench& bench) {
             bench.power.tree().write("sys/class/powercap/intel-rapl:1/energy_uj", "none\n");
         }}};
    for (const auto& [name, fault] : faults) {
        SCOPED_TRACE(name);
        MeteredBench bench;
        bench.device.meanwhile = [&, &fault = fault] {
            if (bench.device.repeated == 1) bench.power.stops = name == "unreadable";
            if (bench.device.repeated == 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
            if (bench.device.repeated == 1) fault(bench);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        };
        const auto result = bench.optimize("energy");
        ASSERT_FALSE(result.ok());
        EXPECT_FALSE(result.error().next_step.empty());
        bench.device.meanwhile = nullptr;
        bench.power.stops = false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until the counter is written again
        const auto again = bench.optimize("energy");
        ASSERT_TRUE(again.ok()) << again.error().text();
        EXPECT_THAT(lean_kernels(*again), testing::Each(true));
    }
}

// Every window of a kernel draws at least 1 J, so the counter wraps in the middle of it.
TEST(MeteredEnergy, AWrapInTheMiddleOfEveryWindowIsCounted) {
    MeteredBench bench;
    bench.device.before = [&] { bench.power.wrap_after(0.25e6); };
    const auto result = bench.optimize("energy");
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_GT(bench.device.repeated, 0);
    EXPECT_GE(bench.power.wraps, bench.device.repeated);
    EXPECT_THAT(lean_kernels(*result), testing::Each(true));
    const search::Metrics& totals = result->optimized.planned.totals;
    EXPECT_GT(totals.joules.value / totals.seconds.value, 15);
    EXPECT_LT(totals.joules.value / totals.seconds.value, 40);
}

// A zone that goes away: whoever holds its file open reads nothing, and nobody can open it again.
TEST(MeteredEnergy, AZoneThatVanishesInTheMiddleOfAWindowEndsTheRun) {
    MeteredBench bench;
    bench.device.meanwhile = [&] {
        bench.power.stops = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until nothing is written any more
        bench.power.tree().write("sys/class/powercap/intel-rapl:1/energy_uj", "");
        std::filesystem::remove_all(bench.power.tree().root() / "sys/class/powercap/intel-rapl:1");
    };
    const auto result = bench.optimize("energy");
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().text(), HasSubstr("intel-rapl:1"));
    EXPECT_FALSE(result.error().next_step.empty());
    EXPECT_EQ(bench.device.repeated, 1) << "it went on without the second package";
}

TEST(MeteredEnergy, APackageThatNoMeterMeasuresIsRefused) {
    meter::tests::FakeTree tree;
    tree.zone("intel-rapl:0", "package-0", 1, 1000000);
    tree.write("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    tree.write("sys/devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
    auto meter = meter::open("powercap", {.root = tree.root()});
    ASSERT_TRUE(meter.ok());
    const std::vector<int> one = {0}, both = {0, 1};
    EXPECT_EQ(*meter::packages_of(*meter, one, {.root = tree.root()}), std::vector<std::string>{"cpu:0"});
    const auto refused = meter::packages_of(*meter, both, {.root = tree.root()});
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().text(), HasSubstr("cpu:1"));
    // Linux writes -1 if the firmware does not tell the package.
    tree.write("sys/devices/system/cpu/cpu1/topology/physical_package_id", "-1\n");
    EXPECT_EQ(*meter::packages_of(*meter, both, {.root = tree.root()}), std::vector<std::string>{"cpu:0"});
}

}  // namespace
}  // namespace viridian::optimize
