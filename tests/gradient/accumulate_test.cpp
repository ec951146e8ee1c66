// A step in micro-batches equals the step of the whole batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gradient/run_step.hpp"
#include "viridian/gradient/step.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/verify.hpp"

namespace viridian::gradient {
namespace {

using graph::Shape;
using testing::HasSubstr;

Tensor drawn(const Dims& dims, std::uint64_t seed) {
    Random random(seed);
    return random_doubles(dims, random);
}

// Two layers with Dropout between them, for a batch of `batch` samples.
Graph forward(std::int64_t batch) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f64, graph::shape_of({batch, 5})});
    const ValueId a = graph.add_constant("a", drawn({5, 7}, 1));
    const ValueId b = graph.add_constant("b", drawn({7}, 2));
    const ValueId c = graph.add_constant("c", drawn({7, 4}, 3));
    const ValueId hidden = graph.add(op::Tanh, {graph.add(op::Add, {graph.add(op::MatMul, {x, a}), b})});
    Tensor training(ElementType::boolean, {});
    training.mutable_values<bool>()[0] = true;
    Node drop;
    drop.op = op::Dropout;
    drop.name = "drop";
    drop.inputs = {hidden, graph.add_constant("ratio", Tensor::scalar(0.4F)),
                   graph.add_constant("training", training)};
    const std::vector<std::string> names = {"dropped", "mask"};
    const std::vector<ValueId> dropped = graph.node(graph.add_node(std::move(drop), names)).outputs;
    graph.set_outputs({graph.add(op::MatMul, {dropped[0], c}, {}, "y"), dropped[1]});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

Tensor rows(const Tensor& whole, std::int64_t first, std::int64_t count) {
    Dims dims = whole.dims();
    const std::size_t row = whole.byte_count() / static_cast<std::size_t>(dims[0]);
    dims[0] = count;
    Tensor part(whole.type(), dims);
    std::copy_n(whole.bytes() + row * static_cast<std::size_t>(first), part.byte_count(),
                part.mutable_bytes());
    return part;
}

StepOptions options(LossKind loss) {
    StepOptions options;
    options.loss.kind = loss;
    options.optimizer.decay = 0.01;
    options.clip_norm = 0.05;  // below the norms that occur
    return options;
}

// Samples, and labels of which some are ignored; or numbers.
NamedTensors data(LossKind loss, std::int64_t step) {
    NamedTensors given;
    given["x"] = drawn({12, 5}, 10 + static_cast<std::uint64_t>(step));
    if (loss == LossKind::mean_squared_error) {
        given["labels"] = drawn({12, 4}, 20 + static_cast<std::uint64_t>(step));
    } else {
        std::vector<std::int64_t> labels = {0, 3, -100, 1, 2, 2, -100, -100, 1, 0, 3, 2};
        std::ranges::rotate(labels, labels.begin() + step);
        given["labels"] = Tensor::i64({12}, labels);
    }
    given["viridian.rate"] = Tensor::of<double>(ElementType::f64, {}, std::vector{0.01});
    given["viridian.seed"] = Tensor::scalar(std::int64_t{77});
    given["viridian.first_sample"] = Tensor::scalar(12 * step);
    return given;
}

void compare(const StepOptions& wanted, std::int64_t parts) {
    const std::int64_t size = 12 / parts;
    const auto whole = training_step(forward(12), wanted);
    const auto split = accumulated_step(forward(size), wanted);
    ASSERT_TRUE(whole.ok()) << whole.error().text();
    ASSERT_TRUE(split.ok()) << split.error().text();
    EXPECT_TRUE(verify(split->accumulate.graph).ok()) << verify(split->accumulate.graph).error().text();
    EXPECT_TRUE(verify(split->apply).ok()) << verify(split->apply).error().text();
    NamedTensors one, other;
    for (std::int64_t step = 0; step < 3; ++step) {
        NamedTensors given = data(wanted.loss.kind, step);
        const NamedTensors expected = run_step(whole->graph, given, one);
        double count = 0, loss = 0;
        count = loss_count(wanted.loss, given["labels"]);
        given["viridian.inverse_count"] = Tensor::of<double>(ElementType::f64, {}, std::vector{1 / count});
        for (std::int64_t part = 0; part < parts; ++part) {
            NamedTensors own = given;
            own["x"] = rows(given["x"], part * size, size);
            own["labels"] = rows(given["labels"], part * size, size);
            own["viridian.first_sample"] = Tensor::scalar(12 * step + part * size);
            const NamedTensors made = run_step(split->accumulate.graph, own, other);
            loss += made.at("loss").number(0);
            EXPECT_TRUE(made.at("mask").same_bytes(rows(expected.at("mask"), part * size, size)));
            EXPECT_LE(furthest(made.at("y"), rows(expected.at("y"), part * size, size)), 1e-14);
        }
        EXPECT_NEAR(loss, expected.at("loss").number(0), 1e-13);
        const NamedTensors applied = run_step(split->apply, given, other);
        EXPECT_NEAR(applied.at("gradient_norm").number(0), expected.at("gradient_norm").number(0), 1e-13);
        for (const auto& [name, state] : one) EXPECT_LE(furthest(other.at(name), state), 1e-12) << name;
        for (const char* name : {"a", "b", "c"})
            for (const double value : other.at(name + std::string(accumulator_suffix)).values<double>())
                EXPECT_EQ(value, 0) << name;
    }
}

TEST(Accumulate, MicroBatchesAddUpToTheBatch) {
    for (const LossKind loss : {LossKind::cross_entropy, LossKind::mean_squared_error})
        for (const std::int64_t parts : {2, 3, 12}) compare(options(loss), parts);
}

TEST(Accumulate, ClassWeightsAndSmoothingCount) {
    StepOptions wanted = options(LossKind::cross_entropy);
    wanted.loss.class_weights = {1, 2, 0.5, 3};
    wanted.loss.label_smoothing = 0.1;
    compare(wanted, 4);
}

TEST(Accumulate, EveryOptimizerApplies) {
    for (const OptimizerKind kind :
         {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::lamb, OptimizerKind::rmsprop}) {
        StepOptions wanted = options(LossKind::cross_entropy);
        wanted.optimizer.kind = kind;
        wanted.clip_norm = 0;
        if (kind == OptimizerKind::sgd) wanted.optimizer.momentum = 0.9;
        const auto split = accumulated_step(forward(4), wanted);
        ASSERT_TRUE(split.ok()) << split.error().text();
        for (const Trained& trained : split->accumulate.parameters)
            EXPECT_EQ(trained.moments.size(), moments_of(wanted.optimizer).size());
        EXPECT_EQ(split->accumulate.parameters.size(), 3U);
    }
}

TEST(Accumulate, MasksChangeFromStepToStepWithoutAnOptimizer) {
    StepOptions wanted = options(LossKind::cross_entropy);
    wanted.optimizer.kind = OptimizerKind::none;
    wanted.clip_norm = 0;
    const auto split = accumulated_step(forward(12), wanted);
    ASSERT_TRUE(split.ok()) << split.error().text();
    NamedTensors states, given = data(LossKind::cross_entropy, 0);
    given["viridian.inverse_count"] = Tensor::of<double>(ElementType::f64, {}, std::vector{0.1});
    const auto mask = [&] { return run_step(split->accumulate.graph, given, states).at("mask"); };
    const Tensor first = mask();
    EXPECT_TRUE(mask().same_bytes(first)) << "micro-batches of a step draw from the same number";
    run_step(split->apply, given, states);
    EXPECT_EQ(states.at(std::string(count_state)).integer(0), 1);
    EXPECT_FALSE(mask().same_bytes(first));
}

TEST(Accumulate, StatesSayWhatTheyAre) {
    const auto split = accumulated_step(forward(4), options(LossKind::cross_entropy));
    ASSERT_TRUE(split.ok()) << split.error().text();
    for (const Graph* graph : {&split->accumulate.graph, &split->apply}) {
        int sums = 0;
        for (const graph::State& state : graph->states()) {
            if (state.role != graph::StateRole::accumulator) continue;
            ++sums;
            EXPECT_EQ(graph->value(state.before).name,
                      graph->value(state.of).name + std::string(accumulator_suffix));
        }
        EXPECT_EQ(sums, 3);
    }
    for (const NodeId id : split->apply.nodes()) EXPECT_EQ(split->apply.node(id).phase, graph::Phase::update);
}

TEST(Accumulate, ALossOfTheNetworkCannotBeSummed) {
    const auto refused = accumulated_step(forward(4), options(LossKind::output));
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().text(), HasSubstr("losses of micro-batches cannot be summed"));
}

}  // namespace
}  // namespace viridian::gradient
