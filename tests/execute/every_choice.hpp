#pragma once
// Checks every choice a device offers for every region against the reference evaluation.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <optional>

#include "tests/support/greedy.hpp"
#include "viridian/base/random.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/plan/precision.hpp"

namespace viridian::execute {

inline graph::Tensor random_tensor(Random& random, const graph::Dims& dims) {
    graph::Tensor tensor(graph::ElementType::f32, dims);
    for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.uniform(-1, 1));
    return tensor;
}

inline graph::TensorType f32(const graph::Dims& dims) {
    return {graph::ElementType::f32, graph::shape_of(dims)};
}

inline graph::Tensor random_flags(Random& random, const graph::Dims& dims) {
    graph::Tensor tensor(graph::ElementType::boolean, dims);
    for (bool& value : tensor.mutable_values<bool>()) value = random.chance(0.7);
    return tensor;
}

inline std::vector<graph::Tensor> random_inputs(const graph::Graph& graph, Random& random) {
    std::vector<graph::Tensor> inputs;
    for (const auto id : graph.inputs()) {
        const graph::TensorType& type = graph.value(id).type;
        inputs.push_back(type.element == graph::ElementType::boolean ? random_flags(random, type.dims())
                                                                     : random_tensor(random, type.dims()));
    }
    return inputs;
}

// Relative L2 distance; infinite where NaN patterns differ.
inline double distance(const graph::Tensor& a, const graph::Tensor& b) {
    if (a.dims() != b.dims() || a.type() != b.type()) return INFINITY;
    double difference = 0, size = 0;
    for (std::int64_t i = 0; i < a.count(); ++i) {
        const double x = a.number(i), y = b.number(i);
        if (std::isnan(x) || std::isnan(y)) {
            if (std::isnan(x) != std::isnan(y)) return INFINITY;
            continue;
        }
        if (x == y) continue;
        difference += (x - y) * (x - y);
        size += y * y;
    }
    return std::sqrt(difference / std::max(size, 1e-30));
}

inline graph::Tensor rounded_to_bf16(graph::Tensor tensor) {
    if (tensor.type() != graph::ElementType::f32) return tensor;
    for (float& value : tensor.mutable_values<float>())
        value = graph::from_bfloat16(graph::to_bfloat16(value));
    return tensor;
}

// Winograd in bf16 rounds what interpolation then amplifies: by 1.2 for F(2, 3) to 9 for F(4, 7),
// squared for squares.
inline double tolerance_of(const plan::Choice& choice, double tolerance) {
    return choice.variant.algorithm == plan::Algorithm::winograd_bf16 ? 12 * tolerance : tolerance;
}

// Returns the outputs of the `c`-th choice for the region, of the second of two runs; none if it cannot run.
inline std::vector<graph::Tensor> run_choice(Device& device, const graph::Graph& graph,
                                             const plan::Region& region, std::size_t c,
                                             const std::vector<graph::Tensor>& inputs) {
    auto assignment = assign(device, graph, {region}, [&](const auto&, const auto&) { return c; });
    EXPECT_TRUE(assignment.ok());
    const auto plan = plan::make_plan(graph, *std::move(assignment));
    EXPECT_TRUE(plan.ok()) << plan.error().text();
    auto executable = device.prepare(graph, *plan);
    EXPECT_TRUE(executable.ok()) << executable.error().text();
    std::vector<graph::Tensor> outputs;
    for (const auto id : graph.outputs())
        outputs.emplace_back(graph.value(id).type.element, graph.value(id).type.dims());
    for (int repeat = 0; repeat < 2; ++repeat) {
        const auto ran = (*executable)->run(inputs, outputs);
        EXPECT_TRUE(ran.ok()) << ran.error().text();
    }
    // A kernel takes no more scratch than its choice says. This is not checked if the graph has a large
    // constant, whose packed size is not known here.
    std::int64_t named = plan->arena_bytes + plan->workspace_bytes + plan->state_bytes;
    bool small = true;
    for (std::size_t i = 0; i < graph.value_count(); ++i)
        if (const graph::Tensor* constant = graph.constant(static_cast<graph::ValueId>(i))) {
            named += 4096;  // a bound for the packed form of 16 elements
            small = small && constant->count() <= 16;
        }
    if (small) {
        EXPECT_LE((*executable)->memory().value, named);
    }
    return outputs;
}

// Runs the graph once per choice of the region made of all its nodes (one chain). Returns the kernels tried.
// `bf16_tolerance`, where given: inputs and constants are bf16 numbers, and only choices that round are
// tried. `only`: the kernels whose names begin so.
inline std::vector<std::string> check_region(Device& device, graph::Graph graph, Random& random,
                                             double tolerance,
                                             std::optional<double> bf16_tolerance = std::nullopt,
                                             std::string_view only = "",
                                             const std::function<void(graph::Tensor&)>& change_first = {}) {
    EXPECT_TRUE(infer_types(graph).ok());
    auto inputs = random_inputs(graph, random);
    if (change_first) change_first(inputs[0]);
    if (bf16_tolerance) {
        for (auto& input : inputs) input = rounded_to_bf16(std::move(input));
        for (std::size_t i = 0; i < graph.value_count(); ++i)
            if (const auto id = static_cast<graph::ValueId>(i);
                graph.constant(id) != nullptr && graph.constant(id)->type() == graph::ElementType::f32)
                graph.make_constant(id, rounded_to_bf16(*graph.constant(id)));
    }
    const auto expected = evaluate(graph, inputs);
    EXPECT_TRUE(expected.ok()) << expected.error().text();
    const auto region = plan::make_region(graph, graph::uses(graph), graph.nodes());
    const auto choices = device.choices(graph, region);
    EXPECT_TRUE(choices.ok()) << choices.error().text();
    std::vector<std::string> tried;
    for (std::size_t c = 0; c < choices->size(); ++c) {
        const auto key = (*choices)[c].key();
        const bool rounds = plan::rounds(graph, region, (*choices)[c]);
        if (bf16_tolerance && !rounds) continue;
        if (!key.starts_with(only)) continue;
        SCOPED_TRACE(key);
        const std::vector<graph::Tensor> outputs = run_choice(device, graph, region, c, inputs);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            EXPECT_LE(distance(outputs[i], (*expected)[i]),
                      rounds ? tolerance_of((*choices)[c], *bf16_tolerance) : tolerance)
                << key << " " << text(graph.value(graph.outputs()[i]).type);
        tried.push_back((*choices)[c].kernel);
    }
    return tried;
}

inline std::unique_ptr<Device> test_device(int threads = 1) {
    auto device = make_cpu_device({.threads = threads, .pin = false, .allowances = {}});
    EXPECT_TRUE(device.ok());
    return *std::move(device);
}

// Returns a device that may store in bf16. Tests of kernels that multiply in bf16 check multiplies_bf16()
// first.
inline std::unique_ptr<Device> bf16_device(int threads = 1) {
    auto device = make_cpu_device({.threads = threads, .pin = false, .allowances = {.bf16 = true}});
    EXPECT_TRUE(device.ok());
    return *std::move(device);
}

}  // namespace viridian::execute
