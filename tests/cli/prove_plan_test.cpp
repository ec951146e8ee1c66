// The error budget, with prices that make bf16 always worth it: what agrees is decided by the outputs alone.
#include "viridian/cli/prove_plan.hpp"

#include <gmock/gmock.h>

#include "viridian/base/random.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/execute/inputs.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/plan/precision.hpp"

namespace viridian::cli {
namespace {

using graph::Graph;
using graph::Tensor;
using graph::ValueId;

// The processor's kernels at made-up prices: bf16 is ten times as fast, conversions are cheap.
class FixedPrices final : public execute::Device {
  public:
    explicit FixedPrices(std::unique_ptr<Device> real) : real_(std::move(real)) {}
    std::string name() const override { return real_->name(); }
    std::string fingerprint() const override { return real_->fingerprint(); }
    std::string library() const override { return real_->library(); }
    int threads() const override { return real_->threads(); }
    Result<std::vector<plan::Choice>> choices(const Graph& graph, const plan::Region& region) override {
        return real_->choices(graph, region);
    }
    Result<std::unique_ptr<execute::Executable>> prepare(const Graph& graph,
                                                         const plan::Plan& plan) override {
        return real_->prepare(graph, plan);
    }
    Result<execute::Timing> time(const Graph& graph, const plan::Region& region, const plan::Choice& choice,
                                 const execute::TimingProtocol&) override {
        return timing(plan::rounds(graph, region, choice) ? 1e-6 : 1e-5);
    }
    Result<execute::Timing> time_conversion(const graph::Dims&, const plan::Format&, const plan::Format&,
                                            const execute::TimingProtocol&) override {
        return timing(1e-7);
    }

  private:
    static execute::Timing timing(double seconds) {
        const Seconds s(seconds);
        return {s, s, s, s, 5, {}};
    }
    std::unique_ptr<Device> real_;
};

Tensor random_tensor(Random& random, const graph::Dims& dims) {
    Tensor tensor(graph::ElementType::f32, dims);
    for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.uniform(-1, 1));
    return tensor;
}

// Two products; behind the second a large number is added, and taken off again: 5000 in bf16 has steps of 32.
Graph cancelling() {
    Random random(3);
    Graph graph;
    const auto constant = [&](Tensor tensor) { return graph.add_constant("c", std::move(tensor)); };
    const auto all = [](float value) { return Tensor::f32({64}, std::vector<float>(64, value)); };
    const ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({4, 64})});
    const ValueId first = graph.add("MatMul", {x, constant(random_tensor(random, {64, 64}))}, {}, "harmless");
    const ValueId second =
        graph.add("MatMul", {first, constant(random_tensor(random, {64, 64}))}, {}, "product");
    const ValueId large = graph.add("Add", {second, constant(all(5000))}, {}, "large");
    const ValueId pool = graph.add(
        "Reshape", {large, constant(Tensor::i64({3}, std::vector<std::int64_t>{2, 2, 64}))}, {}, "shape");
    graph.set_outputs({graph.add("Sub", {pool, constant(all(5000))}, {}, "small")});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

struct Trial {
    std::vector<std::string> forbidden;
    double error = 0;
    std::size_t rounding = 0;
    int rounds = 0;
    bool large_rounds = false;
};

Trial prove_within(double max_error) {
    Trial run;
    auto real = execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {.bf16 = true}});
    EXPECT_TRUE(real.ok());
    FixedPrices device(*std::move(real));
    auto database = cost::Database::open(":memory:");
    EXPECT_TRUE(database.ok());
    auto energy = profile::EnergyPricer::open("model", 1);
    EXPECT_TRUE(energy.ok()) << energy.error().text();
    profile::OnDemand costs(device, *database, *std::move(energy),
                            {.protocol = {}, .allowances = "f32,bf16"});
    const Graph graph = cancelling();
    costs.price_for(graph);
    TensorSets inputs;
    for (const std::uint64_t seed : {1, 2}) inputs.push_back(*execute::seeded_inputs(graph, seed));
    auto expected = execute::reference_outputs(graph, inputs);
    EXPECT_TRUE(expected.ok());
    const Question question{graph, inputs, {*std::move(expected), 0}, false, max_error};
    const auto proven = plan_and_prove(graph, question, device, costs, *search::parse_objective("time"), {});
    EXPECT_TRUE(proven.ok()) << proven.error().text();
    if (!proven.ok()) return run;
    EXPECT_TRUE(proven->proof.passed());
    run.error = proven->proof.outputs[0].error;
    for (const Forbidden& entry : proven->forbidden) {
        run.forbidden.push_back(entry.blame.node);
        run.rounds = std::max(run.rounds, entry.round);
    }
    for (const auto& assigned : proven->planned.plan.assignment.regions) {
        if (!plan::rounds(graph, assigned.region, assigned.choice)) continue;
        ++run.rounding;
        for (std::size_t i = 0; i < assigned.region.outputs.size(); ++i)
            if (graph.value(assigned.region.outputs[i]).name.starts_with("large"))
                run.large_rounds = assigned.choice.outputs[i].element == graph::ElementType::bf16;
    }
    return run;
}

class ErrorBudget : public testing::Test {
  protected:
    void SetUp() override {
        if (!execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {.bf16 = true}}).ok())
            GTEST_SKIP() << "this processor has no bf16 instructions";
    }
};

TEST_F(ErrorBudget, WhatCancelsStaysInF32AndTheRestMayRound) {
    const Trial run = prove_within(0.02);
    EXPECT_FALSE(run.forbidden.empty());
    EXPECT_FALSE(run.large_rounds);
    EXPECT_GE(run.rounding, 1U) << "the products did no harm";
    EXPECT_THAT(run.forbidden, testing::Not(testing::Contains("harmless")));
    EXPECT_LE(run.error, 0.02);
    EXPECT_GT(run.error, 1e-4) << "something was rounded";
}

TEST_F(ErrorBudget, ATightOneEndsInF32) {
    const Trial run = prove_within(1e-5);
    EXPECT_EQ(run.rounding, 0U);
    EXPECT_LE(run.error, 1e-5);
}

TEST_F(ErrorBudget, IsTheSameEveryTime) {
    const Trial first = prove_within(0.02), second = prove_within(0.02);
    EXPECT_EQ(first.forbidden, second.forbidden);
    EXPECT_EQ(first.error, second.error);
}

TEST(ToForbid, WorstFirstUntilTheRestFits) {
    std::vector<execute::Blame> blames(4);
    blames[0].error = 0.04, blames[1].error = 0.03, blames[2].error = 0.01, blames[3].error = 0;
    EXPECT_EQ(to_forbid(blames, 0.051, 0.045).size(), 1U);
    EXPECT_EQ(to_forbid(blames, 0.051, 0.02).size(), 2U);
    EXPECT_EQ(to_forbid(blames, 0.051, 0.001).size(), 3U);
    EXPECT_EQ(to_forbid(blames, 0.51, 0.02).size(), 3U) << "together they were worse than apart";
    blames[0].error = blames[1].error = std::numeric_limits<double>::infinity();
    EXPECT_EQ(to_forbid(blames, std::numeric_limits<double>::infinity(), 0.02).size(), 2U);
}

}  // namespace
}  // namespace viridian::cli
