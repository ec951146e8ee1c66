// The number of threads as a choice, on a simulated device: who gains little from a second thread runs on
// one.
#include <gmock/gmock.h>

#include "tests/support/simulated_device.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/optimize/optimize.hpp"

namespace viridian::optimize {
namespace {

// Two threads, and one that takes `speedup` times as long: softmax gains less from the second one.
class TwoThreads : public execute::SimulatedDevice {
  public:
    explicit TwoThreads(int threads = 2) : threads_(threads) {}
    double speedup_of_softmax = 1.2, speedup_of_others = 1.9;

    int threads() const override { return threads_; }
    Result<std::unique_ptr<Device>> on_threads(int threads) override {
        auto fewer = std::make_unique<TwoThreads>(threads);
        fewer->speedup_of_softmax = speedup_of_softmax;
        fewer->speedup_of_others = speedup_of_others;
        return std::unique_ptr<Device>(std::move(fewer));
    }
    Seconds wake_latency() override { return Seconds(1e-9); }
    Result<execute::Timing> time(const graph::Graph& graph, const plan::Region& region,
                                 const plan::Choice& choice,
                                 const execute::TimingProtocol& protocol) override {
        plan::Choice on_all = choice;
        on_all.threads = 0;
        VIRIDIAN_TRY(execute::Timing timing, SimulatedDevice::time(graph, region, on_all, protocol));
        const bool softmax = graph.node(region.nodes.back()).op.name() == "Softmax";
        const bool one = threads_ == 1 || choice.threads == 1;
        const double longer = !one ? 1 : softmax ? speedup_of_softmax : speedup_of_others;
        for (Seconds* seconds : {&timing.minimum, &timing.median, &timing.low, &timing.high})
            *seconds = *seconds * longer;
        return timing;
    }

  private:
    int threads_;
};

graph::Graph convolution_and_softmax() {
    graph::Graph graph;
    graph::ValueId value = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, 8, 9, 9})});
    graph::Tensor weights(graph::ElementType::f32, {8, 8, 3, 3});
    for (float& w : weights.mutable_values<float>()) w = 0.1F;
    value = graph.add("Conv", {value, graph.add_constant("w", weights)}, {{"pads", graph::Dims{1, 1, 1, 1}}});
    graph.set_outputs({graph.add("Softmax", {value})});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

struct Bench {
    TwoThreads device;
    cost::Database database = *cost::Database::temporary();
    cost::IdlePower idle = cost::IdlePower::whole;

    Optimized optimize(const std::string& objective, bool frontier = false) {
        OptimizeOptions options;
        options.objective = *search::parse_objective(objective);
        options.method = search::OuterMethod::none;
        options.proofs = 1;
        options.frontier = frontier;
        auto costs = MeasuredCosts::open(device, database, {.meter = "model", .idle = idle}, "f32",
                                         tries_fewer_threads(options));
        EXPECT_TRUE(costs.ok()) << costs.error().text();
        Listener listener;
        auto result = optimize::optimize(convolution_and_softmax(), **costs, &device, options, listener);
        EXPECT_TRUE(result.ok()) << result.error().text();
        return *std::move(result);
    }
};

// By operator: on how many threads it runs.
std::map<std::string, int> threads_of(const Optimized& result) {
    std::map<std::string, int> threads;
    const PlannedModel& planned = result.optimized.planned;
    const std::vector<int> of_steps = step_threads(planned.plan);
    for (std::size_t s = 0; s < of_steps.size(); ++s)
        if (const plan::Step& step = planned.plan.steps[s]; step.kind == plan::Step::Kind::kernel)
            threads[std::string(planned.graph.node(step.region.nodes.back()).op.name())] = of_steps[s];
    return threads;
}

TEST(FewerThreads, ForEnergyAKernelThatGainsLittleRunsOnOne) {
    using testing::Pair;
    Bench bench;
    const Optimized lean = bench.optimize("energy"), fast = bench.optimize("time");
    EXPECT_THAT(threads_of(lean), testing::UnorderedElementsAre(Pair("Conv", 2), Pair("Softmax", 1)));
    EXPECT_THAT(threads_of(fast), testing::UnorderedElementsAre(Pair("Conv", 2), Pair("Softmax", 2)));
    EXPECT_LT(lean.optimized.planned.totals.joules, fast.optimized.planned.totals.joules);
    EXPECT_GT(lean.optimized.planned.totals.seconds, fast.optimized.planned.totals.seconds);
    EXPECT_THAT(text(lean), testing::HasSubstr("on fewer than 2"));
}

TEST(FewerThreads, WhereNothingGainsTheWholePlanRunsOnOne) {
    Bench bench;
    bench.device.speedup_of_softmax = bench.device.speedup_of_others = 1.05;
    const Optimized lean = bench.optimize("energy");
    EXPECT_EQ(lean.optimized.planned.plan.threads, 1);
    EXPECT_DOUBLE_EQ(busy_threads(lean.optimized.planned), 1);
    EXPECT_THAT(text(lean), testing::HasSubstr("the whole plan on 1 of 2"));
}

// If the work answers for the processors that it keeps busy, one thread takes as many joules as two if it
// takes twice as long.
TEST(FewerThreads, ATieGoesToTheFasterPlan) {
    Bench bench;
    bench.idle = cost::IdlePower::share;
    bench.device.speedup_of_softmax = bench.device.speedup_of_others = 1.9;
    const Optimized lean = bench.optimize("energy");
    EXPECT_DOUBLE_EQ(busy_threads(lean.optimized.planned), 1);
    Bench tied;
    tied.idle = cost::IdlePower::share;
    tied.device.speedup_of_softmax = tied.device.speedup_of_others = 1.99;
    const Optimized fast = tied.optimize("energy");
    EXPECT_DOUBLE_EQ(busy_threads(fast.optimized.planned), 2);
    EXPECT_LT(fast.optimized.planned.totals.seconds, 0.6 * lean.optimized.planned.totals.seconds);
}

// Both ends of the frontier, and what lies between.
TEST(FewerThreads, GiveTheFrontierRealPoints) {
    Bench bench;
    const Optimized result = bench.optimize("time", true);
    ASSERT_TRUE(result.frontier);
    ASSERT_GE(result.frontier->vertices.size(), 2U);
    const auto &first = result.frontier->vertices.front(), &last = result.frontier->vertices.back();
    EXPECT_LT(first.totals.seconds, last.totals.seconds);
    EXPECT_GT(first.totals.joules, last.totals.joules);
    EXPECT_NEAR(first.totals.seconds.value, result.optimized.planned.solved.value,
                1e-6 * first.totals.seconds.value);
}

TEST(FewerThreads, ArePricedOnlyIfJoulesCount) {
    OptimizeOptions options;
    EXPECT_FALSE(tries_fewer_threads(options));
    options.frontier = true;
    EXPECT_TRUE(tries_fewer_threads(options));
    options.fewer_threads = false;
    EXPECT_FALSE(tries_fewer_threads(options));
    options = {};
    options.objective = *search::parse_objective("power");
    EXPECT_TRUE(tries_fewer_threads(options));
}

}  // namespace
}  // namespace viridian::optimize
