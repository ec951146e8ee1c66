#include "viridian/profile/interleaved.hpp"

#include <gtest/gtest.h>

#include "tests/support/forwarding_device.hpp"
#include "tests/support/greedy.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/prove/proof.hpp"

namespace viridian::profile {
namespace {

constexpr Seconds near_by{5e-8}, far_apart{2e-7}, unknown{0};

// The processor, whose threads are said to be apart during some looks, which then see `latency`; every step
// takes ten times as long meanwhile.
class Wandering final : public execute::ForwardingDevice {
  public:
    Wandering(std::unique_ptr<Device> real, std::function<bool(int look)> apart, Seconds latency)
        : ForwardingDevice(std::move(real)), apart_(std::move(apart)), latency_(latency) {}
    Result<execute::Timing> time(const graph::Graph&, const plan::Region&, const plan::Choice&,
                                 const execute::TimingProtocol&) override {
        return timing();
    }
    Result<execute::Timing> time_conversion(const graph::Dims&, const plan::Format&, const plan::Format&,
                                            const execute::TimingProtocol&) override {
        return timing();
    }
    Seconds core_to_core_latency() override { return apart_(looks++) ? latency_ : near_by; }

    int looks = 0;

  private:
    execute::Timing timing() const {
        const Seconds s(apart_(looks) ? 1e-2 : 1e-3);
        return {s, s, s, s, 5, {}};
    }
    std::function<bool(int)> apart_;
    Seconds latency_;
};

// Prices of relu(sigmoid(x)), step by step, and how often the latency was measured.
struct Told {
    std::vector<Seconds> steps;
    int looks = 0;
    Summary ran;
    Seconds latency;
};

Told told_by(const std::function<bool(int)>& apart, Seconds latency = far_apart, Seconds wanted = {}) {
    auto real = execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {}});
    EXPECT_TRUE(real.ok());
    Wandering device(*std::move(real), apart, latency);
    graph::Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({4, 4})});
    graph.set_outputs({graph.add("Relu", {graph.add("Sigmoid", {x})})});
    EXPECT_TRUE(graph::infer_types(graph).ok());
    auto assignment = execute::assign(device, graph, execute::single_node_regions(graph),
                                      [](const auto&, const auto&) { return std::size_t{0}; });
    EXPECT_TRUE(assignment.ok());
    const auto plan = plan::make_plan(graph, *std::move(assignment));
    EXPECT_TRUE(plan.ok());
    const auto executable = device.prepare(graph, *plan);
    EXPECT_TRUE(executable.ok());
    const auto inputs = prove::seeded_inputs(graph, 1);
    auto outputs = execute::output_tensors(graph);
    EXPECT_TRUE(inputs.ok() && outputs.ok());
    std::vector<InterleavedPlan> plans = {
        {&graph, &*plan, {executable->get(), *inputs, *std::move(outputs)}}};
    InterleavedProtocol protocol;
    protocol.runs = {.warm_up = 1, .rounds = 6, .per_slice = Seconds(0)};
    protocol.latency = wanted;
    const auto results = measure_interleaved(device, plans, protocol);
    EXPECT_TRUE(results.ok()) << (results.ok() ? "" : results.error().text());
    EXPECT_EQ(results->size(), 1U);
    EXPECT_EQ((*results)[0].steps.size(), plan->steps.size());
    return {(*results)[0].steps, device.looks, (*results)[0].ran, (*results)[0].latency};
}

void expect_all(const Told& told, double seconds) {
    EXPECT_FALSE(told.steps.empty());
    for (const Seconds step : told.steps) EXPECT_DOUBLE_EQ(step.value, seconds);
}

TEST(Interleaved, PricesAreThoseOfTheUsualLatency) {
    expect_all(told_by([](int) { return false; }), 1e-3);
    expect_all(told_by([](int) { return true; }), 1e-2);
    expect_all(told_by([](int look) { return look < 5; }), 1e-3);
    expect_all(told_by([](int look) { return look >= 4; }), 1e-2);
}

// Runs are predicted for one state of the machine, and another one may last longer.
TEST(Interleaved, RunsCountAtTheLatencyForWhichTheyWerePredicted) {
    const auto mostly_near = [](int look) { return look >= 8; };
    const Told usual = told_by(mostly_near), wanted = told_by(mostly_near, far_apart, far_apart);
    expect_all(usual, 1e-3);
    EXPECT_EQ(usual.latency, near_by);
    expect_all(wanted, 1e-2);
    EXPECT_EQ(wanted.latency, far_apart);
    const Told never_met = told_by([](int) { return false; }, far_apart, far_apart);
    expect_all(never_met, 1e-3);
    EXPECT_EQ(never_met.latency, near_by) << "says of which state these are";
}

// A busy machine hides the latency. What was timed then is left out, even if it is the most.
TEST(Interleaved, AnUnknownLatencyIsUnusual) {
    expect_all(told_by([](int) { return true; }, unknown), 1e-2);
    expect_all(told_by([](int look) { return look < 5; }, unknown), 1e-3);
    expect_all(told_by([](int look) { return look >= 5; }, unknown), 1e-3);
}

TEST(Interleaved, GoesOnUntilEverythingWasTimedAtTheUsualLatency) {
    const int steady = told_by([](int) { return false; }).looks;
    // Apart at every other look: nothing has the usual latency on both sides.
    const Told restless = told_by([](int look) { return look % 2 == 0; });
    EXPECT_EQ(restless.looks, 3 * (steady - 1) + 1);
    EXPECT_GT(restless.ran.count, 0);
}

TEST(Interleaved, TheSumOfStepsIsWhatIsPredicted) {
    EXPECT_DOUBLE_EQ((InterleavedResult{{}, 0, {Seconds(1), Seconds(0.5)}}).kernels().value, 1.5);
}

}  // namespace
}  // namespace viridian::profile
