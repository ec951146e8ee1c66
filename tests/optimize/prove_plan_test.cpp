// The error budget, with prices that make bf16 always worth it: what agrees is decided by the outputs alone.
#include "viridian/optimize/prove_plan.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tests/support/fixed_prices.hpp"
#include "viridian/base/random.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/gradient/step.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::optimize {
namespace {

using execute::FixedPrices;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

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

// Plans the graph on the device at its prices, and proves the plan.
Result<ProvenPlan> proven_on(FixedPrices& device, const Graph& graph, const std::string& allowances,
                             std::optional<double> max_error = std::nullopt) {
    VIRIDIAN_TRY(cost::Database database, cost::Database::open(":memory:"));
    VIRIDIAN_TRY(const auto costs, MeasuredCosts::open(device, database, {.meter = "model"}, allowances));
    costs->price_for(graph);
    prove::TensorSets inputs;
    for (const std::uint64_t seed : {1, 2}) inputs.push_back(*prove::seeded_inputs(graph, seed));
    VIRIDIAN_TRY(auto expected, prove::reference_outputs(graph, inputs));
    const ProofTask task{graph, inputs, {std::move(expected), 0}, false, max_error};
    VIRIDIAN_TRY(const search::Objective objective, search::parse_objective("time"));
    return plan_and_prove(graph, task, device, *costs, objective, {});
}

// A step that takes sums of two products off a weight. They nearly cancel, so that f32 leaves few digits of
// them, whatever kernel multiplies.
Graph losing_digits() {
    Random random(4);
    Graph graph;
    const Tensor w = random_tensor(random, {64, 64});
    Tensor minus = w;
    for (float& value : minus.mutable_values<float>()) value *= -1.0001F;
    const ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({64, 64})});
    const ValueId weight =
        graph.add_state("weight", Tensor(graph::ElementType::f32, {64, 64}), graph::StateRole::parameter);
    const ValueId plus = graph.add("MatMul", {x, graph.add_constant("w", w)});
    const ValueId less = graph.add("MatMul", {x, graph.add_constant("minus", minus)});
    graph.set_outputs({graph.add("Relu", {plus})});
    graph.set_after(weight, graph.add("Sub", {weight, graph.add("Add", {plus, less}, {}, "sum")}));
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

TEST(ProvePlan, RightKernelsAreNotBlamedForWhatF32Loses) {
    auto real = execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {}});
    ASSERT_TRUE(real.ok());
    FixedPrices device(*std::move(real));
    const auto is_fast = [](const ProvenPlan& proven) {
        return std::ranges::none_of(proven.planned.plan.assignment.regions, [](const auto& assigned) {
            return assigned.choice.variant.algorithm == plan::Algorithm::reference;
        });
    };
    const auto proven = proven_on(device, losing_digits(), "f32");
    ASSERT_TRUE(proven.ok()) << proven.error().text();
    EXPECT_TRUE(is_fast(*proven));
    EXPECT_GT(proven->proof.outputs[1].error, 1e-4) << "the case is not hard enough";
    EXPECT_GT(proven->proof.outputs[1].allowed, 1e-4);
    EXPECT_FALSE(proven->regions.empty()) << "each kernel is checked alone";
    EXPECT_TRUE(proven_on(device, losing_digits(), "f32", 0.05).ok()) << "within a budget, too";
    const auto within = proven_on(device, losing_digits(), "f32", 1e-5);
    EXPECT_TRUE(!within.ok() || !is_fast(*within)) << "only the reference kernels keep a tighter one";

    device.wrong = [](const std::string&, const plan::Choice& choice) {
        return choice.variant.algorithm != plan::Algorithm::reference;
    };
    const auto refused = proven_on(device, losing_digits(), "f32");
    EXPECT_TRUE(!refused.ok() || !is_fast(*refused)) << "wrong kernels are";
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
    const Graph graph = cancelling();
    const auto proven = proven_on(device, graph, "f32,bf16", max_error);
    EXPECT_TRUE(proven.ok()) << proven.error().text();
    if (!proven.ok()) return run;
    EXPECT_TRUE(proven->proof.passed());
    run.error = proven->proof.outputs[0].error;
    for (const prove::Forbidden& entry : proven->forbidden) {
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

TEST(ErrorBudget, WhatCancelsStaysInF32AndTheRestMayRound) {
    if (!execute::multiplies_bf16()) GTEST_SKIP() << "this processor does not multiply in bf16";
    const Trial run = prove_within(0.02);
    EXPECT_FALSE(run.forbidden.empty());
    EXPECT_FALSE(run.large_rounds);
    EXPECT_GE(run.rounding, 1U) << "the products did no harm";
    EXPECT_THAT(run.forbidden, testing::Not(testing::Contains("harmless")));
    EXPECT_LE(run.error, 0.02);
    EXPECT_GT(run.error, 1e-4) << "something was rounded";
}

TEST(ErrorBudget, ATightOneEndsInF32) {
    const Trial run = prove_within(1e-5);
    EXPECT_EQ(run.rounding, 0U);
    EXPECT_LE(run.error, 1e-5);
}

TEST(ErrorBudget, IsTheSameEveryTime) {
    const Trial first = prove_within(0.02), second = prove_within(0.02);
    EXPECT_EQ(first.forbidden, second.forbidden);
    EXPECT_EQ(first.error, second.error);
}

// A step of training, whose activations and gradients are stored in bf16 and whose states stay in f32. It
// needs no processor that multiplies in bf16.
TEST(TrainingInBf16, IsWithinTheErrorBudget) {
    auto real = execute::make_cpu_device({.threads = 2, .pin = false, .allowances = {.bf16 = true}});
    ASSERT_TRUE(real.ok());
    FixedPrices device(*std::move(real));
    const auto layer =
        zoo::build("encoder_layer", {.batch = 2, .training = true, .sequence = 96, .hidden = 128});
    ASSERT_TRUE(layer.ok()) << layer.error().text();
    gradient::StepOptions options;
    options.loss.kind = gradient::LossKind::mean_squared_error;
    const auto step = gradient::training_step(*layer, options);
    ASSERT_TRUE(step.ok()) << step.error().text();
    const auto proven = proven_on(device, step->graph, "f32,bf16");
    ASSERT_TRUE(proven.ok()) << proven.error().text();
    EXPECT_TRUE(proven->proof.passed());
    std::size_t products = 0;
    for (const auto& assigned : proven->planned.plan.assignment.regions) {
        const plan::Choice& choice = assigned.choice;
        const auto is_bf16 = [](const plan::Format& f) { return f.element == graph::ElementType::bf16; };
        products +=
            choice.kernel.starts_with("simd:contract") && std::ranges::count_if(choice.inputs, is_bf16) >= 2;
    }
    EXPECT_GE(products, 12U) << "of 8 products of the layer and 16 of its gradients";
    EXPECT_LE(proven->forbidden.size(), 16U) << "a few regions lose much more than the others";
    for (const auto& output : proven->proof.outputs) EXPECT_LE(output.error, output.allowed) << output.name;
}

// An accumulator of gradients in bf16 would stop growing after some batches.
TEST(TrainingInBf16, LeavesTheValuesOfStatesInF32) {
    auto real = execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {.bf16 = true}});
    ASSERT_TRUE(real.ok());
    FixedPrices device(*std::move(real));
    Graph graph;
    const ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({64, 64})});
    const ValueId sum =
        graph.add_state("sum", Tensor(graph::ElementType::f32, {64, 64}), graph::StateRole::accumulator);
    const ValueId gradient = graph.add("Relu", {x});
    const ValueId product = graph.add("Mul", {gradient, sum});
    graph.set_outputs({graph.add("Tanh", {graph.add("MatMul", {product, x})})});
    graph.set_after(sum, graph.add("Add", {sum, gradient}));
    ASSERT_TRUE(infer_types(graph).ok());
    const auto proven = proven_on(device, graph, "f32,bf16");
    ASSERT_TRUE(proven.ok()) << proven.error().text();
    const Graph& planned = proven->planned.graph;
    const graph::State& state = planned.states()[0];
    bool any = false;
    for (const plan::AssignedRegion& assigned : proven->planned.plan.assignment.regions) {
        const plan::Region& region = assigned.region;
        const plan::Choice& choice = assigned.choice;
        any = any || plan::rounds(planned, region, choice);
        const auto after = std::ranges::find(region.outputs, state.after);
        if (after == region.outputs.end()) continue;
        EXPECT_EQ(choice.outputs[static_cast<std::size_t>(after - region.outputs.begin())].element,
                  graph::ElementType::f32);
        const auto before = std::ranges::find(region.inputs, state.before);
        ASSERT_NE(before, region.inputs.end());
        EXPECT_EQ(choice.inputs[static_cast<std::size_t>(before - region.inputs.begin())].element,
                  graph::ElementType::f32);
    }
    EXPECT_TRUE(any) << "other values are stored in bf16";
}

std::unique_ptr<execute::Device> exact_device() {
    auto device = execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {}});
    EXPECT_TRUE(device.ok());
    return *std::move(device);
}

Graph two_products() {
    Random random(5);
    Graph graph;
    const ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({4, 64})});
    const ValueId v = graph.add_constant("v", random_tensor(random, {64, 48}));
    const ValueId w = graph.add_constant("w", random_tensor(random, {48, 32}));
    graph.set_outputs({graph.add("MatMul", {graph.add("MatMul", {x, v}, {}, "first"), w}, {}, "second")});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

std::set<std::string> kernels_of(const ProvenPlan& proven) {
    std::set<std::string> kernels;
    for (const auto& assigned : proven.planned.plan.assignment.regions)
        kernels.insert(assigned.choice.kernel);
    return kernels;
}

TEST(WrongKernel, IsForbiddenWhereItIsWrongAndAnotherTaken) {
    FixedPrices device(exact_device());
    const Graph graph = two_products();
    const auto right = proven_on(device, graph, "f32");
    ASSERT_TRUE(right.ok()) << right.error().text();
    const plan::Choice taken = right->planned.plan.assignment.regions[0].choice;
    const plan::Region first = right->planned.plan.assignment.regions[0].region;
    const std::string signature = plan::signature(graph, first);
    device.wrong = [&](const std::string& where, const plan::Choice& choice) {
        return where == signature && choice.kernel == taken.kernel;
    };
    device.cheapest = taken.kernel;
    const auto proven = proven_on(device, graph, "f32");
    ASSERT_TRUE(proven.ok()) << proven.error().text();
    EXPECT_TRUE(proven->proof.passed());
    for (const auto& assigned : proven->planned.plan.assignment.regions)
        EXPECT_EQ(plan::signature(graph, assigned.region) == signature,
                  assigned.choice.kernel != taken.kernel)
            << "right at the other product";
}

TEST(WrongKernel, OfAllTheReferenceIsLeft) {
    FixedPrices device(exact_device());
    device.wrong = [](const std::string&, const plan::Choice& choice) {
        return choice.kernel != "reference";
    };
    const auto proven = proven_on(device, two_products(), "f32");
    ASSERT_TRUE(proven.ok()) << proven.error().text();
    EXPECT_EQ(kernels_of(*proven), std::set<std::string>{"reference"});
}

TEST(WrongKernel, OfWhichThereIsNoOtherEndsWithExitCode3) {
    FixedPrices device(exact_device());
    device.wrong = [](const std::string&, const plan::Choice&) { return true; };
    const auto proven = proven_on(device, two_products(), "f32");
    ASSERT_FALSE(proven.ok());
    EXPECT_EQ(proven.error().code, ErrorCode::not_equal) << proven.error().text();
    EXPECT_EQ(proven.error().kind(), ErrorKind::bug) << "exit code 3";
}

class WithNaN : public testing::TestWithParam<const char*> {};

// Standard normal inputs, of which each of these makes some NaN.
TEST_P(WithNaN, IsComparedByItsPattern) {
    Graph graph;
    const ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({4, 64})});
    std::vector<ValueId> inputs = {x};
    if (GetParam() == std::string("Pow")) inputs.push_back(graph.add_constant("e", Tensor::scalar(0.5F)));
    graph.set_outputs({graph.add(GetParam(), inputs, {}, "y")});
    ASSERT_TRUE(infer_types(graph).ok());
    FixedPrices device(exact_device());
    const auto proven = proven_on(device, graph, "f32");
    ASSERT_TRUE(proven.ok()) << proven.error().text();
    EXPECT_TRUE(proven->proof.passed());
    EXPECT_LE(proven->proof.outputs[0].error, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Operators, WithNaN,
                         testing::Values("Log", "Sqrt", "Pow", "Acos", "Asin", "Atanh", "Acosh"));

TEST(ToForbid, WorstFirstUntilTheRestFits) {
    std::vector<prove::Blame> blames(4);
    blames[0].error = 0.04, blames[1].error = 0.03, blames[2].error = 0.01, blames[3].error = 0;
    EXPECT_EQ(to_forbid(blames, 0.051, 0.045).size(), 1U);
    EXPECT_EQ(to_forbid(blames, 0.051, 0.02).size(), 2U);
    EXPECT_EQ(to_forbid(blames, 0.051, 0.001).size(), 3U);
    EXPECT_EQ(to_forbid(blames, 0.51, 0.02).size(), 3U) << "together they were worse than apart";
    blames[0].error = blames[1].error = std::numeric_limits<double>::infinity();
    EXPECT_EQ(to_forbid(blames, std::numeric_limits<double>::infinity(), 0.02).size(), 2U);
}

}  // namespace
}  // namespace viridian::optimize
