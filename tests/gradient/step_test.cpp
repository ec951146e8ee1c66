#include "viridian/gradient/step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/gradient/doubles.hpp"
#include "tests/gradient/run_step.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/verify.hpp"

namespace viridian::gradient {
namespace {

using graph::Shape;
using graph::TensorType;
using testing::ElementsAre;
using testing::HasSubstr;

// y = x·A + b, then tanh, then a second layer.
Graph two_layers(Random& random) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f64, graph::shape_of({4, 3})});
    const ValueId a = graph.add_constant("a", random_doubles({3, 5}, random));
    const ValueId b = graph.add_constant("b", random_doubles({5}, random));
    const ValueId c = graph.add_constant("c", random_doubles({5, 2}, random));
    const ValueId hidden = graph.add(op::Tanh, {graph.add(op::Add, {graph.add(op::MatMul, {x, a}), b})});
    graph.set_outputs({graph.add(op::MatMul, {hidden, c}, {}, "y")});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

TEST(Step, GradientsOfTheLossAgreeWithDifferences) {
    Random random(1);
    const Graph forward = two_layers(random);
    StepOptions options;
    options.optimizer.kind = OptimizerKind::none;
    options.gradient_outputs = true;
    const auto step = training_step(forward, options);
    ASSERT_TRUE(step.ok()) << step.error().text();
    ASSERT_TRUE(verify(step->graph).ok()) << verify(step->graph).error().text();
    EXPECT_EQ(step->parameters.size(), 3);
    const NamedTensors inputs = {{"x", random_doubles({4, 3}, random)},
                                 {"labels", Tensor::i64({4}, std::vector<std::int64_t>{0, 1, -100, 1})}};
    NamedTensors states;
    const auto here = run_step(step->graph, inputs, states);
    for (const char* name : {"a", "b", "c"}) {
        const Tensor& gradient = here.at(std::string(name) + ".gradient");
        for (std::int64_t k = 0; k < gradient.count(); ++k) {
            const double h = 1e-5;
            const auto loss_at = [&](double by) {
                auto moved = states;
                moved[name].mutable_values<double>()[std::size_t(k)] += by;
                return run_step(step->graph, inputs, moved).at("loss").number(0);
            };
            EXPECT_NEAR(gradient.number(k), (loss_at(h) - loss_at(-h)) / (2 * h), 1e-9) << name << k;
        }
    }
}

TEST(Step, NodesKnowTheirPhase) {
    Random random(2);
    const auto step = training_step(two_layers(random), {});
    ASSERT_TRUE(step.ok());
    std::map<graph::Phase, int> count;
    for (const NodeId id : step->graph.nodes()) {
        const Node& node = step->graph.node(id);
        ++count[node.phase];
        const bool update = node.op.name() == "AdamW";  // of a parameter, so of the layer that reads it
        const bool differentiates =
            node.phase == graph::Phase::backward || node.phase == graph::Phase::weight;
        EXPECT_NE(differentiates || update, node.twin.empty()) << node.name;
    }
    // Weight: the products that give the gradients of a and c with their transposes, and the sum for b.
    EXPECT_GE(count[graph::Phase::weight], 3);
    EXPECT_GE(count[graph::Phase::backward], 2);
    EXPECT_GE(count[graph::Phase::update], 3);
    EXPECT_GE(count[graph::Phase::forward], 4);
}

TEST(Step, FrozenParametersStayConstants) {
    Random random(3);
    StepOptions options;
    options.parameters = {{"*", false}, {"c", true}};
    const auto step = training_step(two_layers(random), options);
    ASSERT_TRUE(step.ok()) << step.error().text();
    EXPECT_THAT(step->frozen, ElementsAre("a", "b"));
    ASSERT_EQ(step->parameters.size(), 1U);
    EXPECT_EQ(step->parameters[0].name, "c");
    EXPECT_THAT(step->parameters[0].moments, ElementsAre("c.moment1", "c.moment2"));
    options.parameters = {{"d*", true}};
    const auto refused = training_step(two_layers(random), options);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().text(), HasSubstr("`d*`"));
}

TEST(Step, ClipsTheNormOfAllGradients) {
    Random random(4);
    const Graph forward = two_layers(random);
    StepOptions options;
    options.optimizer.kind = OptimizerKind::sgd;
    options.loss.kind = LossKind::mean_squared_error;
    options.gradient_outputs = true;
    options.clip_norm = 0.1;
    const auto step = training_step(forward, options);
    ASSERT_TRUE(step.ok()) << step.error().text();
    NamedTensors states;
    const auto made = run_step(step->graph,
                               {{"x", random_doubles({4, 3}, random)},
                                {"labels", random_doubles({4, 2}, random)},
                                {"viridian.rate", doubles({}, {1.0})}},
                               states);
    double square = 0;
    for (const char* name : {"a", "b", "c"})
        for (const double g : made.at(std::string(name) + ".gradient").values<double>()) square += g * g;
    EXPECT_NEAR(made.at("gradient_norm").number(0), std::sqrt(square), 1e-12);
    double moved = 0;
    for (const graph::State& state : step->graph.states())
        if (state.role == graph::StateRole::parameter) {
            const Tensor& before = *step->graph.first_value(state.before);
            const Tensor& after = states.at(step->graph.value(state.before).name);
            for (std::int64_t k = 0; k < before.count(); ++k)
                moved += std::pow(after.number(k) - before.number(k), 2);
        }
    EXPECT_NEAR(std::sqrt(moved), 0.1, 1e-6);
}

// --- Optimisers: w · 1 with a gradient from outside, three steps, against the published equations in a loop.

struct Numbers {
    double w = 0.7, m = 0, v = 0;
};

void expect_steps(const OptimizerOptions& options,
                  void (*step)(const OptimizerOptions&, Numbers&, double, int)) {
    Graph forward;
    const ValueId x = forward.add_input("x", {ElementType::f64, graph::shape_of({1, 2})});
    const ValueId w = forward.add_constant("w", doubles({1, 2}, {0.7, -0.4}));
    forward.set_outputs({forward.add(op::Mul, {x, w}, {}, "y")});
    ASSERT_TRUE(infer_types(forward).ok());
    StepOptions all;
    all.loss.kind = LossKind::gradient;
    all.optimizer = options;
    const auto made = training_step(forward, all);
    ASSERT_TRUE(made.ok()) << made.error().text();
    NamedTensors states;
    Numbers a{.w = 0.7}, b{.w = -0.4};
    for (int t = 1; t <= 3; ++t) {
        const double ga = 0.3 * t - 0.5, gb = 0.2 + 0.1 * t;
        run_step(made->graph,
                 {{"x", doubles({1, 2}, {1, 1})},
                  {"gradient", doubles({1, 2}, {ga, gb})},
                  {"viridian.rate", doubles({}, {0.05})}},
                 states);
        step(options, a, ga, t);
        step(options, b, gb, t);
        if (options.kind == OptimizerKind::lamb) continue;
        EXPECT_NEAR(states.at("w").number(0), a.w, 1e-14) << t;
        EXPECT_NEAR(states.at("w").number(1), b.w, 1e-14) << t;
    }
    EXPECT_EQ(states.at("viridian.step").integer(0), 3);
}

constexpr double rate = 0.05;

TEST(Optimizers, Sgd) {
    for (const double momentum : {0.0, 0.9})
        for (const bool nesterov : {false, true})
            expect_steps(
                {.kind = OptimizerKind::sgd, .momentum = momentum, .nesterov = nesterov, .decay = 0.1},
                [](const OptimizerOptions& o, Numbers& n, double g, int) {
                    g += o.decay * n.w;
                    n.m = o.momentum * n.m + g;
                    const double d = o.momentum == 0 ? g : o.nesterov ? g + o.momentum * n.m : n.m;
                    n.w -= rate * d;
                });
}

void adam_moments(const OptimizerOptions& o, Numbers& n, double g) {
    n.m = o.beta1 * n.m + (1 - o.beta1) * g;
    n.v = o.beta2 * n.v + (1 - o.beta2) * g * g;
}
double adam_direction(const OptimizerOptions& o, const Numbers& n, int t) {
    return n.m / (1 - std::pow(o.beta1, t)) / (std::sqrt(n.v / (1 - std::pow(o.beta2, t))) + o.epsilon);
}

TEST(Optimizers, Adam) {
    expect_steps({.kind = OptimizerKind::adam, .decay = 0.1},
                 [](const OptimizerOptions& o, Numbers& n, double g, int t) {
                     adam_moments(o, n, g + o.decay * n.w);
                     n.w -= rate * adam_direction(o, n, t);
                 });
}

TEST(Optimizers, AdamW) {
    expect_steps({.kind = OptimizerKind::adamw, .decay = 0.1},
                 [](const OptimizerOptions& o, Numbers& n, double g, int t) {
                     adam_moments(o, n, g);
                     n.w -= rate * o.decay * n.w;
                     n.w -= rate * adam_direction(o, n, t);
                 });
}

TEST(Optimizers, RmsProp) {
    for (const double momentum : {0.0, 0.9})
        expect_steps({.kind = OptimizerKind::rmsprop, .momentum = momentum, .decay = 0.1},
                     [](const OptimizerOptions& o, Numbers& n, double g, int) {
                         g += o.decay * n.w;
                         n.v = o.alpha * n.v + (1 - o.alpha) * g * g;
                         const double d = g / (std::sqrt(n.v) + o.epsilon);
                         n.m = o.momentum * n.m + d;
                         n.w -= rate * (o.momentum == 0 ? d : n.m);
                     });
}

TEST(Optimizers, LambScalesEachParameterByItsLength) {
    Graph forward;
    const ValueId x = forward.add_input("x", {ElementType::f64, graph::shape_of({1, 2})});
    const ValueId w = forward.add_constant("w", doubles({1, 2}, {0.7, -0.4}));
    forward.set_outputs({forward.add(op::Mul, {x, w}, {}, "y")});
    ASSERT_TRUE(infer_types(forward).ok());
    StepOptions options;
    options.loss.kind = LossKind::gradient;
    options.optimizer = {.kind = OptimizerKind::lamb, .epsilon = 1e-6, .decay = 0.1};
    const auto made = training_step(forward, options);
    ASSERT_TRUE(made.ok());
    NamedTensors states;
    run_step(made->graph,
             {{"x", doubles({1, 2}, {1, 1})},
              {"gradient", doubles({1, 2}, {0.3, -0.2})},
              {"viridian.rate", doubles({}, {rate})}},
             states);
    Numbers a{.w = 0.7}, b{.w = -0.4};
    adam_moments(options.optimizer, a, 0.3);
    adam_moments(options.optimizer, b, -0.2);
    const double ra = adam_direction(options.optimizer, a, 1) + 0.1 * a.w;
    const double rb = adam_direction(options.optimizer, b, 1) + 0.1 * b.w;
    const double trust = std::hypot(a.w, b.w) / std::hypot(ra, rb);
    EXPECT_NEAR(states.at("w").number(0), a.w - rate * trust * ra, 1e-14);
    EXPECT_NEAR(states.at("w").number(1), b.w - rate * trust * rb, 1e-14);
}

// --- Losses against their definitions in loops.

double loss_of(const Dims& dims, const LossOptions& options, const Tensor& x, const Tensor& labels) {
    Graph forward;
    const ValueId input = forward.add_input("x", {ElementType::f64, graph::shape_of(dims)});
    const ValueId one = forward.add_constant("w", doubles({1, 1}, {1.0}));
    forward.set_outputs({forward.add(op::Mul, {input, one}, {}, "y")});
    EXPECT_TRUE(infer_types(forward).ok());
    const auto loss = add_loss(forward, options);
    EXPECT_TRUE(loss.ok()) << loss.error().text();
    forward.set_outputs({loss->value});
    EXPECT_TRUE(infer_types(forward).ok());
    const auto made = evaluate(forward, {x, labels});
    EXPECT_TRUE(made.ok()) << made.error().text();
    return (*made)[0].number(0);
}

TEST(Losses, CrossEntropy) {
    Random random(5);
    const Tensor x = random_doubles({3, 4}, random);
    const std::vector<std::int64_t> labels = {2, -100, 0};
    const std::vector<double> weights = {0.5, 1, 2, 1};
    for (const double smoothing : {0.0, 0.1})
        for (const bool weighted : {false, true}) {
            LossOptions options{.label_smoothing = smoothing};
            if (weighted) options.class_weights = weights;
            double total = 0, divisor = 0;
            for (std::size_t i = 0; i < 3; ++i) {
                if (labels[i] < 0) continue;
                double sum = 0;
                for (std::int64_t k = 0; k < 4; ++k) sum += std::exp(x.number(std::int64_t(i) * 4 + k));
                const auto minus_log = [&](std::int64_t k) {
                    return (std::log(sum) - x.number(std::int64_t(i) * 4 + k)) *
                           (weighted ? weights[std::size_t(k)] : 1);
                };
                double uniform = 0;
                for (std::int64_t k = 0; k < 4; ++k) uniform += minus_log(k) / 4;
                total += (1 - smoothing) * minus_log(labels[i]) + smoothing * uniform;
                divisor += weighted ? weights[std::size_t(labels[i])] : 1;
            }
            EXPECT_NEAR(loss_of({3, 4}, options, x, Tensor::i64({3}, labels)), total / divisor, 1e-14);
        }
}

TEST(Losses, CrossEntropyOfPositions) {  // [batch, position, class]
    Random random(6);
    const Tensor x = random_doubles({2, 3, 4}, random);
    const std::vector<std::int64_t> labels = {2, 1, 0, 3, 3, 1};
    double total = 0;
    for (std::int64_t i = 0; i < 6; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < 4; ++k) sum += std::exp(x.number(i * 4 + k));
        total += std::log(sum) - x.number(i * 4 + labels[std::size_t(i)]);
    }
    EXPECT_NEAR(loss_of({2, 3, 4}, {}, x, Tensor::i64({2, 3}, labels)), total / 6, 1e-14);
}

TEST(Losses, OfNumbers) {
    Random random(7);
    const Tensor x = random_doubles({3, 2}, random), t = random_doubles({3, 2}, random);
    double squared = 0, absolute = 0, huber = 0, binary = 0;
    for (std::int64_t i = 0; i < 6; ++i) {
        const double d = x.number(i) - t.number(i), size = std::abs(d);
        squared += d * d / 6;
        absolute += size / 6;
        huber += (size <= 0.4 ? d * d / 2 : 0.4 * (size - 0.2)) / 6;
        const double p = 1 / (1 + std::exp(-x.number(i)));
        binary -= (t.number(i) * std::log(p) + (1 - t.number(i)) * std::log(1 - p)) / 6;
    }
    EXPECT_NEAR(loss_of({3, 2}, {.kind = LossKind::mean_squared_error}, x, t), squared, 1e-14);
    EXPECT_NEAR(loss_of({3, 2}, {.kind = LossKind::mean_absolute_error}, x, t), absolute, 1e-14);
    EXPECT_NEAR(loss_of({3, 2}, {.kind = LossKind::huber, .delta = 0.4}, x, t), huber, 1e-14);
    EXPECT_NEAR(loss_of({3, 2}, {.kind = LossKind::binary_cross_entropy}, x, t), binary, 1e-14);
}

TEST(Losses, RefusesWhatDoesNotFit) {
    Graph forward;
    const ValueId x = forward.add_input("x", {ElementType::f64, graph::shape_of({3})});
    forward.set_outputs({forward.add(op::Tanh, {x}, {}, "y")});
    ASSERT_TRUE(infer_types(forward).ok());
    Graph copy = forward;
    const auto vector = add_loss(copy, {});
    ASSERT_FALSE(vector.ok());
    EXPECT_THAT(vector.error().text(), HasSubstr("output `y` is f64[3]: class indices need"));
    copy = forward;
    const auto missing = add_loss(copy, {.output = "z"});
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().text(), "the network has no output `z`. its outputs are y.");
    copy = forward;
    EXPECT_FALSE(add_loss(copy, {.kind = LossKind::output}).ok());
}

}  // namespace
}  // namespace viridian::gradient
