// The whole of `optimize` on a simulated device: no kernel library, no timing, no noise.
#include "viridian/optimize/optimize.hpp"

#include <gmock/gmock.h>

#include "tests/support/simulated_device.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/base/json.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::optimize {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Tensor weights(const Dims& dims) {
    Tensor tensor(graph::ElementType::f32, dims);
    float value = 0.1F;
    for (float& w : tensor.mutable_values<float>())
        w = 0.2F * (value = value > 1 ? value - 1.93F : value + 0.37F);
    return tensor;
}

// Two convolutions of one input, normalised, rectified and joined.
Graph small_network() {
    Graph graph;
    const ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, 8, 9, 9})});
    const auto conv = [&](ValueId input, const Dims& dims, const char* name) {
        const std::int64_t pad = dims[2] / 2;
        return graph.add("Conv", {input, graph.add_constant("w", weights(dims))},
                         {{"pads", Dims{pad, pad, pad, pad}}}, name);
    };
    const ValueId stem = graph.add("Relu", {conv(x, {8, 8, 3, 3}, "stem")}, {}, "active");
    graph.set_outputs({graph.add("Concat", {conv(stem, {8, 8, 1, 1}, "one"), conv(stem, {4, 8, 1, 1}, "two")},
                                 {{"axis", std::int64_t{1}}}, "both")});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

class Notes : public Listener {
  public:
    std::vector<std::string> steps, notes;
    bool stop = false;
    void progress(const std::string& what) override { steps.push_back(what); }
    void note(const std::string& text) override { notes.push_back(text); }
    bool cancelled() override { return stop; }
};

struct Bench {
    execute::SimulatedDevice device;
    cost::Database database = *cost::Database::temporary();
    std::unique_ptr<MeasuredCosts> costs = *MeasuredCosts::open(device, database, {.meter = "model"}, "f32");
    Notes notes;

    Result<Optimized> optimize(const std::string& objective, bool record = false, bool keep = false) {
        OptimizeOptions options;
        options.keep_original = keep;
        options.objective = *search::parse_objective(objective);
        options.proofs = 1;
        options.record = record;
        return optimize::optimize(small_network(), *costs, &device, options, notes);
    }
};

TEST(Optimize, FindsAPlanThatIsNoDearerAndProvenEqual) {
    Bench bench;
    const auto result = bench.optimize("time");
    ASSERT_TRUE(result.ok()) << result.error().text();
    ASSERT_TRUE(result->proof && result->optimized.measured && result->baseline.measured);
    EXPECT_TRUE(result->proof->proof.passed());
    EXPECT_LE(result->optimized.planned.totals.seconds, result->baseline.planned.totals.seconds);
    EXPECT_EQ(result->optimized.planned.plan.assignment.gap(), 0);
    EXPECT_GT(result->prices.misses, 0);
    EXPECT_THAT(bench.notes.steps, Contains("proving the plan"));
    EXPECT_THAT(bench.notes.notes, Contains(HasSubstr("to measure")));

    const Json json = result->to_json();
    EXPECT_EQ(json["schema"], "viridian.optimize/1");
    EXPECT_TRUE(json["verification"]["passed"].get<bool>());
    EXPECT_GE(json["layers"].size(), result->optimized.planned.plan.steps.size());
    EXPECT_THAT(text(*result), HasSubstr("gap 0: the cheapest of this graph's plans at these prices"));
    EXPECT_THAT(text(*result),
                AllOf(HasSubstr("equal to the original within"), HasSubstr("(relative L2) on 1 input")));
}

// Without a meter a plan's joules follow its time, and the text says so; with one it says nothing of it.
TEST(Optimize, EstimatedJoulesAreSaidToFollowTime) {
    Bench bench;
    auto result = bench.optimize("energy");
    ASSERT_TRUE(result.ok()) << result.error().text();
    const auto said = [&] {
        std::string line = text(*result);
        line.erase(std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
                   line.end());
        std::ranges::replace(line, '\n', ' ');
        return line;
    };
    EXPECT_THAT(said(), HasSubstr("estimated:cpu-linear"));
    EXPECT_THAT(said(), HasSubstr("no meter covers this processor: joules are estimates by cpu-linear"));
    EXPECT_THAT(said(), HasSubstr("plans on equally many threads rank as their times do"));
    for (Side* side : {&result->baseline, &result->optimized})
        side->measured->energy.provenance = {Provenance::Kind::measured, "powercap"};
    EXPECT_THAT(said(), HasSubstr("measured:powercap"));
    EXPECT_THAT(said(), Not(HasSubstr("no meter")));
}

TEST(Optimize, ForbidsAKernelWhoseOutputsAreWrongAndPlansAgain) {
    Bench right;
    const auto first = right.optimize("time");
    ASSERT_TRUE(first.ok()) << first.error().text();
    Bench bench;
    for (const plan::AssignedRegion& assigned : first->optimized.planned.plan.assignment.regions)
        if (assigned.choice.kernel != "view") bench.device.wrong = {assigned.choice.kernel};
    const auto second = bench.optimize("time");
    ASSERT_TRUE(second.ok()) << second.error().text();
    for (const plan::AssignedRegion& assigned : second->optimized.planned.plan.assignment.regions)
        EXPECT_FALSE(bench.device.wrong.contains(assigned.choice.kernel)) << assigned.choice.kernel;
}

TEST(Optimize, RecordedPricesGiveTheSamePlanWithoutADevice) {
    Bench bench;
    const auto measured = bench.optimize("time", true);
    ASSERT_TRUE(measured.ok()) << measured.error().text();
    ASSERT_TRUE(measured->recording);
    const tests::TemporaryFolder folder;
    const Path file = folder / "prices.json";
    ASSERT_TRUE(write_file(file, measured->recording->to_text()).ok());
    auto costs = RecordedCosts::open(file);
    ASSERT_TRUE(costs.ok()) << costs.error().text();
    const auto again = optimize(small_network(), *costs, nullptr, {}, bench.notes);
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_FALSE(again->proof || again->optimized.measured);
    EXPECT_NEAR(again->optimized.planned.totals.seconds.value,
                measured->optimized.planned.totals.seconds.value, 1e-9);
    EXPECT_THAT(text(*again), HasSubstr("outputs  not run"));
}

TEST(Optimize, ACancelledMeasurementIsAnErrorAndACancelledSearchIsNot) {
    Bench bench;
    bench.notes.stop = true;
    const auto cancelled = bench.optimize("time");
    ASSERT_FALSE(cancelled.ok());
    EXPECT_EQ(cancelled.error().code, ErrorCode::cancelled);

    bench.notes.stop = false;
    ASSERT_TRUE(bench.optimize("time").ok());
    bench.notes.stop = true;  // every price is known now: only the search hears of it
    const auto stopped = bench.optimize("time");
    ASSERT_TRUE(stopped.ok()) << stopped.error().text();
    EXPECT_EQ(stopped->search.ended_by, search::EndedBy::cancelled);
    EXPECT_TRUE(stopped->proof->proof.passed());
}

// Numbers of kernels are those of the plans, so no timing decides here.
TEST(Optimize, KeepsTheOriginalOnRequestIfNoGainIsShown) {
    Bench bench;
    const auto fewer = bench.optimize("kernels", false, true);
    ASSERT_TRUE(fewer.ok()) << fewer.error().text();
    ASSERT_LT(fewer->optimized.planned.plan.steps.size(), fewer->baseline.planned.plan.steps.size());
    EXPECT_TRUE(fewer->gain().is_gain());
    EXPECT_FALSE(fewer->kept_original);

    Graph one;
    const ValueId x = one.add_input("x", {graph::ElementType::f32, graph::shape_of({4})});
    one.set_outputs({one.add("Relu", {x}, {}, "relu")});
    for (const bool keep : {true, false}) {
        OptimizeOptions options;
        options.objective = *search::parse_objective("kernels");
        options.keep_original = keep;
        const auto same = optimize(one, *bench.costs, &bench.device, options, bench.notes);
        ASSERT_TRUE(same.ok()) << same.error().text();
        EXPECT_EQ(same->gain().value, 1);
        EXPECT_EQ(same->kept_original.has_value(), keep);
        EXPECT_EQ(same->to_json()["ratio"]["kept_original"], keep);
        EXPECT_THAT(text(*same), HasSubstr("no gain is shown"));
        EXPECT_THAT(text(*same), HasSubstr(keep ? "written as it was given" : "--keep-original"));
    }
}

TEST(Optimize, TheRatioIsOfWhatTheObjectiveMinimises) {
    Bench bench;
    auto result = bench.optimize("time");
    ASSERT_TRUE(result.ok()) << result.error().text();
    const Provenance meter{Provenance::Kind::measured, "powercap"};
    const auto set = [&](Side& side, double seconds, double spread, double joules) {
        side.measured->seconds = {seconds, seconds, seconds - spread, seconds + spread, 9};
        side.measured->lost = 0;
        side.measured->energy = {Joules(joules), Joules(joules), Joules(joules), meter};
    };
    set(result->baseline, 1, 0.1, 10);
    set(result->optimized, 2, 0.2, 5);  // slower and leaner
    EXPECT_FALSE(result->gain().is_gain());
    EXPECT_DOUBLE_EQ(result->gain().value, 0.5);
    EXPECT_DOUBLE_EQ(result->gain().low, 0.9 / 2.2);
    EXPECT_DOUBLE_EQ(result->gain().high, 1.1 / 1.8);
    result->options.objective = *search::parse_objective("energy");
    EXPECT_TRUE(result->gain().is_gain());
    EXPECT_DOUBLE_EQ(result->gain().value, 2);
    EXPECT_THAT(text(*result), Not(HasSubstr("no gain")));
    EXPECT_THAT(text(*result), Not(HasSubstr("other processes")));
    result->baseline.measured->lost = 0.43;
    EXPECT_THAT(text(*result), HasSubstr("other processes took 43 % of the runs' time"));
}

}  // namespace
}  // namespace viridian::optimize
