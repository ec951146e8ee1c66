// Every objective on recorded prices in which slower kernels are often leaner, as in EAGO's Table 1:
// SqueezeNet 1.1 on the synthetic processor, written by `optimize --record` (docs/cost.md).
#include <gtest/gtest.h>

#include <array>

#include "tests/support/paths.hpp"
#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cost/recorded.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/search/assign/solvers.hpp"
#include "viridian/search/objective/hull.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::search {
namespace {

class Recorded : public testing::Test {
  protected:
    void SetUp() override {
        const auto text = read_file(viridian::tests::source_folder() / "tests/data/cost/squeezenet1_1.json");
        ASSERT_TRUE(text.ok());
        const auto json = parse_json(*text, "squeezenet1_1.json");
        ASSERT_TRUE(json.ok());
        auto recorded = cost::recorded_from_json(*json);
        ASSERT_TRUE(recorded.ok()) << recorded.error().text();
        auto built = zoo::build("squeezenet1_1", {});
        ASSERT_TRUE(built.ok());
        graph_ = *std::move(built);
        rewrite::Options no_ops;
        for (const rewrite::Rule& rule : rewrite::rules())
            if (rule.name != "remove_no_op") no_ops.without.emplace_back(rule.name);
        ASSERT_TRUE(rewrite::simplify(graph_, no_ops).ok());
        auto instance = Instance::of(graph_, recorded->source);
        ASSERT_TRUE(instance.ok()) << instance.error().text();
        instance_.emplace(*std::move(instance));
    }

    Outcome best(std::string_view objective, const SolverRow& solver = exact_solver) {
        AssignOptions options;
        options.solver = &solver;
        auto outcome = solve(*instance_, *parse_objective(objective), options);
        EXPECT_TRUE(outcome.ok()) << objective << ": " << outcome.error().text();
        return outcome.ok() ? *std::move(outcome) : Outcome{};
    }
    static double watts(const Outcome& outcome) { return measure(Metric::power, outcome.totals); }

    graph::Graph graph_;
    std::optional<Instance> instance_;
};

TEST_F(Recorded, TheFastestKernelIsOftenNotTheLeanest) {
    std::size_t differ = 0, several = 0;
    const auto by = [](Metric metric) {
        return [=](const Option& a, const Option& b) {
            return measure(metric, a.metrics) < measure(metric, b.metrics);
        };
    };
    for (const Candidate& candidate : instance_->candidates()) {
        const auto& options = candidate.options;
        if (options.size() < 2) continue;
        ++several;
        const auto fastest = std::min_element(options.begin(), options.end(), by(Metric::time));
        const auto leanest = std::min_element(options.begin(), options.end(), by(Metric::energy));
        differ += fastest != leanest ? 1 : 0;
    }
    EXPECT_GT(several, 60U);
    EXPECT_GT(4 * differ, several);
}

TEST_F(Recorded, TimeAndEnergyArePlansOfTheirOwnAndNoSolverBeatsExact) {
    const Outcome time = best("time"), energy = best("energy");
    EXPECT_EQ(time.assignment.gap(), 0);
    EXPECT_EQ(energy.assignment.gap(), 0);
    EXPECT_LT(time.totals.seconds, energy.totals.seconds);
    EXPECT_LT(energy.totals.joules, time.totals.joules);
    for (const SolverRow* solver : solvers()) {
        EXPECT_GE(best("time", *solver).totals.seconds, time.totals.seconds * (1 - 1e-12)) << solver->name;
        EXPECT_GE(best("energy", *solver).totals.joules, energy.totals.joules * (1 - 1e-12)) << solver->name;
    }
    EXPECT_GT(best("energy", first_solver).totals.joules, 1.2 * energy.totals.joules);
}

TEST_F(Recorded, LeastPowerCostsTimeAndEnergy) {
    const Outcome power = best("power"), energy = best("energy"), start = best("time", first_solver);
    EXPECT_LT(watts(power), watts(energy));
    EXPECT_GT(power.totals.joules, energy.totals.joules);
    EXPECT_LE(power.totals.seconds, 3 * start.totals.seconds);
    EXPECT_LE(power.assignment.bound, watts(power));
}

TEST_F(Recorded, AMixMovesFromTimeToEnergyAndNeverBack) {
    Metrics last = best("time").totals;
    for (const char* mix : {"0.8*time+0.2*energy", "0.6*time+0.4*energy", "0.4*time+0.6*energy",
                            "0.2*time+0.8*energy", "energy"}) {
        const Metrics next = best(mix).totals;
        EXPECT_GE(next.seconds, last.seconds * (1 - 1e-12)) << mix;
        EXPECT_LE(next.joules, last.joules * (1 + 1e-12)) << mix;
        last = next;
    }
}

TEST_F(Recorded, TheFrontierIsCompleteAndConvex) {
    const auto found = frontier(*instance_);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->unresolved, 0);
    const auto& all = found->vertices;
    ASSERT_GE(all.size(), 8U);
    EXPECT_DOUBLE_EQ(all.front().totals.seconds.value, best("time").totals.seconds.value);
    EXPECT_DOUBLE_EQ(all.back().totals.joules.value, best("energy").totals.joules.value);
    double last = -infinite;
    for (std::size_t i = 1; i < all.size(); ++i) {
        const double right = (all[i].totals.seconds - all[i - 1].totals.seconds).value;
        const double up = (all[i].totals.joules - all[i - 1].totals.joules).value;
        EXPECT_GT(right, 0);
        EXPECT_LT(up, 0);
        EXPECT_GT(up / right, last);
        last = up / right;
    }
    // A product has its optimum at a vertex; a mix with power need not, but is never worse than all of them.
    for (const char* text : {"energy^0.5*time^0.5", "energy^0.8*time^0.2", "0.5*power+0.5*energy"}) {
        const Objective objective = *parse_objective(text);
        const Outcome outcome = best(text);
        double least = infinite;
        for (const Outcome& vertex : all)
            least = std::min(least, objective.value(vertex.totals, outcome.start));
        EXPECT_LE(outcome.assignment.value, least * (1 + 1e-9)) << text;
        EXPECT_LE(outcome.assignment.bound, outcome.assignment.value) << text;
        if (objective.form == Objective::Form::product) {
            EXPECT_NEAR(outcome.assignment.value, least, 1e-12) << text;
        }
        EXPECT_EQ(outcome.assignment.gap(), 0) << text;
    }
}

TEST_F(Recorded, FlopBytesAndKernelsAreLeastUnderTheirOwnObjectives) {
    for (const Metric metric : additive_metrics) {
        const std::string_view name = name_of(metric);
        const Outcome least = best(name);
        EXPECT_EQ(least.assignment.gap(), 0) << name;
        EXPECT_DOUBLE_EQ(least.assignment.value, measure(metric, least.totals)) << name;
        for (const Metric other : additive_metrics)
            EXPECT_GE(measure(metric, best(name_of(other)).totals),
                      measure(metric, least.totals) * (1 - 1e-12))
                << name << ", " << name_of(other);
        EXPECT_GT(measure(metric, best(name, first_solver).totals), 0) << name;
    }
    // Fewest kernels: whatever can be fused is.
    EXPECT_LT(best("kernels").totals.kernels, best("kernels", first_solver).totals.kernels);
}

TEST_F(Recorded, SumsOfSeveralMetricsAndLimitsOnOthers) {
    const Metrics start = best("time", first_solver).totals;
    const Outcome mix = best("0.3*time+0.3*energy+0.4*kernels");
    EXPECT_EQ(mix.assignment.gap(), 0);
    EXPECT_NEAR(mix.assignment.value,
                0.3 * mix.totals.seconds / start.seconds + 0.3 * mix.totals.joules / start.joules +
                    0.4 * mix.totals.kernels / start.kernels,
                1e-12);
    for (const SolverRow* solver : solvers())
        EXPECT_GE(best("0.3*time+0.3*energy+0.4*kernels", *solver).assignment.value,
                  mix.assignment.value * (1 - 1e-12))
            << solver->name;
    const double first_watts = measure(Metric::power, start);
    const Outcome cool = best("energy @ power<=0.8x");
    EXPECT_LE(watts(cool), 0.8 * first_watts * (1 + 1e-12));
    EXPECT_GE(cool.totals.joules, best("energy").totals.joules * (1 - 1e-12));
    EXPECT_EQ(cool.assignment.gap(), 0);
}

TEST_F(Recorded, LimitsAreKeptAndNearlyUsedUp) {
    const Metrics start = best("time", first_solver).totals;
    const Metrics energy = best("energy").totals, time = best("time").totals;
    for (const double factor : {0.74, 0.76, 0.78}) {  // the fastest plan takes 0.73 of the start's time
        const Outcome limited = best(fmt::format("energy @ time<={}x", factor));
        EXPECT_LE(limited.totals.seconds, factor * start.seconds * (1 + 1e-12));
        EXPECT_GE(limited.totals.joules, energy.joules * (1 - 1e-12));
        EXPECT_LT(limited.totals.joules, time.joules);
        EXPECT_EQ(limited.assignment.gap(), 0) << factor;
    }
    const Outcome lean = best("time @ energy<=0.63x");
    EXPECT_LE(lean.totals.joules, 0.63 * start.joules);
    EXPECT_GE(lean.totals.seconds, time.seconds);
    EXPECT_EQ(lean.assignment.gap(), 0);
    const auto never = solve(*instance_, *parse_objective("energy @ time<=0.5x"));
    ASSERT_FALSE(never.ok());
    EXPECT_EQ(never.error().code, ErrorCode::missing_entry);
}

}  // namespace
}  // namespace viridian::search
