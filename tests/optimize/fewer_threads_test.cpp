// The number of threads as a choice, on a simulated device: who gains little from a second thread runs on
// one.
#include <gmock/gmock.h>

#include "tests/support/simulated_device.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/optimize/optimize.hpp"

namespace viridian::optimize {
namespace {

// Takes as long as it is told.
class PacedExecutable final : public execute::Executable {
  public:
    PacedExecutable(std::unique_ptr<execute::Executable> real, Seconds seconds)
        : real_(std::move(real)), seconds_(seconds) {}

    Result<void> run(std::span<const graph::Tensor> inputs, std::span<graph::Tensor> outputs) override {
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_.value);
        const Result<void> ran = real_->run(inputs, outputs);
        while (std::chrono::steady_clock::now() < end) {
        }
        return ran;
    }
    void record(trace::Recorder* recorder) override { real_->record(recorder); }
    Bytes memory() const override { return real_->memory(); }

  private:
    std::unique_ptr<execute::Executable> real_;
    Seconds seconds_;
};

// Two threads, and one that takes `speedup` times as long: softmax gains less from the second one.
class TwoThreads : public execute::SimulatedDevice {
  public:
    explicit TwoThreads(int threads = 2) : threads_(threads) {}
    double speedup_of_softmax = 1.2, speedup_of_others = 1.9;
    double runs_on_one = 1;                 // how much longer a plan on one thread runs than its kernels
    std::optional<ErrorCode> fails_on_one;  // when a plan on one thread is prepared

    int threads() const override { return threads_; }
    Result<std::unique_ptr<Device>> on_threads(int threads) override {
        auto fewer = std::make_unique<TwoThreads>(threads);
        fewer->speedup_of_softmax = speedup_of_softmax;
        fewer->speedup_of_others = speedup_of_others;
        fewer->fails_on_one = fails_on_one;
        return std::unique_ptr<Device>(std::move(fewer));
    }
    Seconds wake_latency() override { return Seconds(1e-9); }
    // Runs take as long as the kernels, but in units that are long beside the evaluation of the outputs, with
    // sanitizers too, and beside a pause of the scheduler.
    Result<std::unique_ptr<execute::Executable>> prepare(const graph::Graph& graph,
                                                         const plan::Plan& plan) override {
        constexpr double unit = 1000;
        if (plan.threads == 1 && fails_on_one) return fail(*fails_on_one, "", "it failed on one");
        VIRIDIAN_TRY(auto real, SimulatedDevice::prepare(graph, plan));
        Seconds seconds;
        for (const plan::Step& step : plan.steps) {
            if (step.kind != plan::Step::Kind::kernel) continue;
            plan::Choice choice = step.choice;
            if (plan.threads == 1) choice.threads = 1;
            VIRIDIAN_TRY(const execute::Timing timing, time(graph, step.region, choice, {}));
            seconds += timing.median * unit;
        }
        if (plan.threads == 1) seconds = seconds * runs_on_one;
        return std::unique_ptr<execute::Executable>(
            std::make_unique<PacedExecutable>(std::move(real), seconds));
    }
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

struct TwoThreadsBench {
    TwoThreads device;
    cost::Database database = *cost::Database::temporary();
    cost::IdlePower idle = cost::IdlePower::whole;

    struct Notes final : Listener {
        std::string all;
        void note(const std::string& text) override { all += text + '\n'; }
    } notes;

    Optimized optimize(const std::string& objective, bool frontier = false) {
        auto result = try_to_optimize(objective, frontier);
        EXPECT_TRUE(result.ok()) << result.error().text();
        return *std::move(result);
    }

    Result<Optimized> try_to_optimize(const std::string& objective, bool frontier = false) {
        OptimizeOptions options;
        options.objective = *search::parse_objective(objective);
        options.method = search::OuterMethod::none;
        options.proofs = 1;
        options.frontier = frontier;
        auto costs = MeasuredCosts::open(device, database, {.meter = "model", .idle = idle}, "f32",
                                         tries_fewer_threads(options));
        EXPECT_TRUE(costs.ok()) << costs.error().text();
        return optimize::optimize(convolution_and_softmax(), **costs, &device, options, notes);
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
    TwoThreadsBench bench;
    const Optimized lean = bench.optimize("energy"), fast = bench.optimize("time");
    EXPECT_THAT(threads_of(lean), testing::UnorderedElementsAre(Pair("Conv", 2), Pair("Softmax", 1)));
    EXPECT_THAT(threads_of(fast), testing::UnorderedElementsAre(Pair("Conv", 2), Pair("Softmax", 2)));
    EXPECT_LT(lean.optimized.planned.totals.joules, fast.optimized.planned.totals.joules);
    EXPECT_GT(lean.optimized.planned.totals.seconds, fast.optimized.planned.totals.seconds);
    EXPECT_THAT(text(lean), testing::HasSubstr("on fewer than 2"));
}

TEST(FewerThreads, WhereNothingGainsTheWholePlanRunsOnOne) {
    TwoThreadsBench bench;
    bench.device.speedup_of_softmax = bench.device.speedup_of_others = 1.05;
    bench.device.runs_on_one = 0.4;  // the two plans cost the same otherwise, and noise would choose
    const Optimized lean = bench.optimize("energy");
    EXPECT_EQ(lean.optimized.planned.plan.threads, 1);
    EXPECT_DOUBLE_EQ(busy_threads(lean.optimized.planned), 1);
    EXPECT_THAT(text(lean), testing::HasSubstr("the whole plan on 1 of 2"));
}

// Prices of one and of two threads share no measurement, so what runs better is taken, whatever was
// predicted.
TEST(FewerThreads, ThePlanThatRunsBetterIsChosen) {
    TwoThreadsBench bench;
    bench.device.speedup_of_softmax = bench.device.speedup_of_others = 1.05;
    bench.device.runs_on_one = 2.5;
    const Optimized lean = bench.optimize("energy");
    EXPECT_EQ(lean.optimized.planned.plan.threads, 2);
    ASSERT_EQ(lean.rivals.size(), 1U);
    EXPECT_EQ(lean.rivals[0].side.planned.plan.threads, 1);
    EXPECT_GT(lean.rivals[0].side.measured->energy.value, lean.optimized.measured->energy.value);
    EXPECT_THAT(text(lean), testing::HasSubstr("the best plan on 1 thread ran in"));
    EXPECT_EQ(lean.residuals("it").size(), 2U) << "both ran";
}

TEST(FewerThreads, APlanThatCannotBeIsLeftOutWithANote) {
    TwoThreadsBench bench;
    bench.device.speedup_of_softmax = bench.device.speedup_of_others = 1.9;
    bench.device.fails_on_one = ErrorCode::out_of_memory;
    const Optimized lean = bench.optimize("energy");
    EXPECT_EQ(lean.optimized.planned.plan.threads, 2);
    EXPECT_TRUE(lean.rivals.empty());
    EXPECT_THAT(bench.notes.all,
                testing::HasSubstr("the best plan on 1 thread is left out: it failed on one\n"));
}

TEST(FewerThreads, AFaultInAPlanOnAnotherNumberIsAnError) {
    TwoThreadsBench bench;
    bench.device.speedup_of_softmax = bench.device.speedup_of_others = 1.9;
    bench.device.fails_on_one = ErrorCode::broken_invariant;
    const auto result = bench.try_to_optimize("energy");
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::broken_invariant);
}

// Nobody knows how the power of a machine without a meter divides, and it decides between one thread and two.
TEST(FewerThreads, TheIntervalOfEstimatedJoulesCoversOtherDivisionsOfThePower) {
    TwoThreadsBench bench;
    bench.device.speedup_of_softmax = bench.device.speedup_of_others = 1.05;
    bench.device.runs_on_one = 0.4;  // the two plans cost the same otherwise, and noise would choose
    const Optimized lean = bench.optimize("energy");
    ASSERT_EQ(lean.optimized.planned.plan.threads, 1);
    const double faster = lean.speedup().value;
    const double r = 2 * 0.74 / 2.76;  // static power, by that of a busy thread: a factor of two each way
    EXPECT_LE(lean.energy_ratio().low, 1.001 * faster * (2 + 4 * r) / (1 + 4 * r));
    EXPECT_GE(lean.energy_ratio().high, 0.999 * faster * (2 + r / 4) / (1 + r / 4));
    const Optimized fast = bench.optimize("time");
    const Ratio energy = fast.energy_ratio(), time = fast.speedup();
    EXPECT_NEAR(energy.high / energy.value, time.high / time.value, 1e-6) << "both on two threads";
}

// If the work answers for the processors that it keeps busy, one thread takes as many joules as two if it
// takes twice as long.
TEST(FewerThreads, ATieGoesToTheFasterPlan) {
    TwoThreadsBench bench;
    bench.idle = cost::IdlePower::share;
    bench.device.speedup_of_softmax = bench.device.speedup_of_others = 1.9;
    bench.device.runs_on_one = 0.8;  // runs say what the prices say, by more than they scatter
    const Optimized lean = bench.optimize("energy");
    EXPECT_DOUBLE_EQ(busy_threads(lean.optimized.planned), 1);
    TwoThreadsBench tied;
    tied.idle = cost::IdlePower::share;
    tied.device.speedup_of_softmax = tied.device.speedup_of_others = 1.99;
    tied.device.runs_on_one = 1.3;
    const Optimized fast = tied.optimize("energy");
    EXPECT_DOUBLE_EQ(busy_threads(fast.optimized.planned), 2);
    EXPECT_LT(fast.optimized.planned.totals.seconds, 0.6 * lean.optimized.planned.totals.seconds);
}

// Both ends of the frontier, and what lies between.
TEST(FewerThreads, GiveTheFrontierRealPoints) {
    TwoThreadsBench bench;
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
