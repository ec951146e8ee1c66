#include <gtest/gtest.h>

#include <cmath>

#include "tests/gradient/doubles.hpp"
#include "viridian/gradient/step.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::gradient {
namespace {

using graph::Graph;
using graph::Tensor;
using graph::ValueId;
namespace op = graph::op;

// y = tanh(x · A), and an input of integers, which has no gradient.
TEST(InputGradients, AreOutputsAndAgreeWithTheDerivative) {
    Graph forward;
    const ValueId x = forward.add_input("x", {graph::ElementType::f64, graph::shape_of({1, 2})});
    const ValueId rows = forward.add_input("rows", {graph::ElementType::i64, graph::shape_of({1})});
    const ValueId a = forward.add_constant("a", doubles({2, 2}, {0.5, -1, 2, 0.25}));
    const ValueId y = forward.add(op::Tanh, {forward.add(op::MatMul, {x, a})});
    forward.set_outputs({forward.add(op::Gather, {y, rows}, {}, "y")});
    ASSERT_TRUE(infer_types(forward).ok());
    StepOptions options;
    options.loss.kind = LossKind::gradient;
    options.optimizer.kind = OptimizerKind::none;
    options.gradient_outputs = options.input_gradients = true;
    const auto step = training_step(forward, options);
    ASSERT_TRUE(step.ok()) << step.error().text();
    std::vector<std::string> names;
    for (const ValueId id : step->graph.outputs()) names.push_back(step->graph.value(id).name);
    ASSERT_EQ(names, (std::vector<std::string>{"y", "x.gradient", "a.gradient"}));

    const double x0 = 0.3, x1 = -0.2, g0 = 1.5, g1 = -0.5;
    std::vector<Tensor> given;
    for (const ValueId id : run_inputs(step->graph)) {
        const std::string& name = step->graph.value(id).name;
        given.push_back(name == "x"      ? doubles({1, 2}, {x0, x1})
                        : name == "rows" ? Tensor::i64({1}, std::vector<std::int64_t>{0})
                        : name == "a"    ? doubles({2, 2}, {0.5, -1, 2, 0.25})
                                         : doubles({1, 2}, {g0, g1}));
    }
    const auto results = evaluate(step->graph, given);
    ASSERT_TRUE(results.ok()) << results.error().text();
    const auto slope = [](double z) { return 1 - std::tanh(z) * std::tanh(z); };
    const double h0 = g0 * slope(x0 * 0.5 + x1 * 2), h1 = g1 * slope(-x0 + x1 * 0.25);
    EXPECT_NEAR((*results)[1].number(0), h0 * 0.5 - h1, 1e-14);
    EXPECT_NEAR((*results)[1].number(1), h0 * 2 + h1 * 0.25, 1e-14);
}

}  // namespace
}  // namespace viridian::gradient
