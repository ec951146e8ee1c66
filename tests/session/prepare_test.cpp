// A plan from a file runs as given: one that rounds in bf16 does so without --allow.
#include "viridian/session/session.hpp"

#include "viridian/base/json.hpp"

#include <gtest/gtest.h>

#include "tests/support/fixed_prices.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/optimize/files/sidecar.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/prove/proof.hpp"

namespace viridian::session {
namespace {

using graph::Tensor;

TEST(Prepare, APlanInBf16RunsAsItWasWrittenWithoutAnOption) {
    auto real = execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {.bf16 = true}});
    ASSERT_TRUE(real.ok()) << real.error().text();
    execute::FixedPrices device(*std::move(real));  // bf16 is ten times as fast
    graph::Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({16, 64})});
    Tensor weights(graph::ElementType::f32, {64, 64});
    float value = 0.1F;
    for (float& w : weights.mutable_values<float>()) w = value = value > 1 ? value - 1.93F : value + 0.37F;
    // Every processor stores in bf16; those that multiply in it round the product too.
    graph.set_outputs({graph.add("MatMul", {x, graph.add_constant("w", std::move(weights))}, {}, "product"),
                       graph.add("Relu", {x})});
    ASSERT_TRUE(infer_types(graph).ok());
    cost::PriceSource source{
        [&](const graph::Graph& of, const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
            VIRIDIAN_TRY(const auto choices, device.choices(of, region));
            std::vector<cost::PricedChoice> priced;
            for (const plan::Choice& choice : choices) {
                VIRIDIAN_TRY(const execute::Timing timing, device.time(of, region, choice, {}));
                priced.push_back({choice, {timing.median, timing.median, timing.median, {}}});
            }
            return priced;
        },
        [](const graph::Dims&, const plan::Format&, const plan::Format&) {
            return Result<cost::Price>(cost::Price{Seconds(1e-7), {}, {}, {}});
        }};
    const auto planned = optimize::make_planned(graph, &device, source, {}, {});
    ASSERT_TRUE(planned.ok()) << planned.error().text();
    ASSERT_TRUE(plan::rounds(planned->graph, planned->plan.assignment));
    const Json sidecar = optimize::sidecar_json(planned->graph, planned->plan, {});

    ModelOptions options;
    options.threads = 1;
    ASSERT_FALSE(allows_bf16(options));
    const auto given = prepare({{}, graph, std::make_shared<const Json>(sidecar), {}}, options);
    ASSERT_TRUE(given.ok()) << given.error().text();
    EXPECT_TRUE(plan::rounds(given->planned.graph, given->planned.plan.assignment));
    const auto inputs = prove::seeded_inputs(graph, 1);
    auto first = execute::output_tensors(graph), second = execute::output_tensors(graph);
    ASSERT_TRUE(inputs.ok() && first.ok() && second.ok());
    ASSERT_TRUE(planned->executable->run(*inputs, *first).ok());
    ASSERT_TRUE(given->planned.executable->run(*inputs, *second).ok());
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ((*first)[i].content_hash(), (*second)[i].content_hash());
    const auto exact = prove::reference_outputs(graph, {*inputs});
    ASSERT_TRUE(exact.ok());
    for (std::size_t i = execute::multiplies_bf16() ? 0 : 1; i < 2; ++i)
        EXPECT_GT(prove::relative_error((*second)[i], (*exact)[0][i]), 1e-4) << "it rounded";
}

// Proving a plan sets the states of its executable; the session must begin with the model's.
TEST(Retune, BeginsWithTheStatesOfTheModel) {
    graph::Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({64, 64})});
    Tensor weights(graph::ElementType::f32, {64, 64});
    for (std::int64_t i = 0; i < weights.count(); ++i)
        weights.mutable_values<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i % 7) / 8;
    const auto w = graph.add_state("w", weights, graph::StateRole::parameter);
    const auto y = graph.add("Relu", {graph.add("MatMul", {x, w})});
    graph.set_outputs({y});
    graph.set_after(w, graph.add("Sub", {w, y}));
    ASSERT_TRUE(infer_types(graph).ok());
    ModelOptions options;
    options.threads = 1;
    options.meter = "model";
    options.allow = {"bf16"};
    Listener listener;
    const auto session = retune({{}, graph, nullptr, {}}, options, 1, listener);
    ASSERT_TRUE(session.ok()) << session.error().text();
    const auto first = session->planned.executable->state(0);
    ASSERT_TRUE(first.ok()) << first.error().text();
    EXPECT_EQ(first->content_hash(), weights.content_hash());
}

// Prices are estimated, so the same kernels are chosen every time.
TEST(Prepare, AModelWithoutAPlanRunsFused) {
    graph::Graph graph;
    const graph::TensorType type{graph::ElementType::f32, graph::shape_of({8, 32, 28, 28})};
    const auto x = graph.add_input("x", type), other = graph.add_input("other", type);
    const auto sum = graph.add("Add", {x, other});
    graph.set_outputs({graph.add("Mul", {graph.add("Relu", {sum}), other})});
    ASSERT_TRUE(infer_types(graph).ok());
    std::vector<plan::Plan> plans;
    for (int i = 0; i < 2; ++i) {
        const auto session = prepare({{}, graph, nullptr, {}}, {});
        ASSERT_TRUE(session.ok()) << session.error().text();
        plans.push_back(session->planned.plan);
    }
    EXPECT_EQ(plans[0].steps.size(), 1U);
    EXPECT_EQ(plans[0].assignment.solver, "exact");
    EXPECT_EQ(plans[0].assignment.regions[0].choice, plans[1].assignment.regions[0].choice);
}

}  // namespace
}  // namespace viridian::session
