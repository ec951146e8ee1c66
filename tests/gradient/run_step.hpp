#pragma once
// Runs training steps with the reference kernels, and compares what they leave.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "viridian/base/random.hpp"
#include "viridian/graph/evaluate.hpp"

namespace viridian::gradient {

using NamedTensors = std::map<std::string, graph::Tensor>;

inline graph::Tensor random_doubles(const graph::Dims& dims, Random& random) {
    graph::Tensor made(graph::ElementType::f64, dims);
    for (double& value : made.mutable_values<double>()) value = random.uniform(-1, 1);
    return made;
}

// Runs a step once: inputs by name, states from `states`, which get their new values.
inline NamedTensors run_step(const graph::Graph& graph, const NamedTensors& inputs, NamedTensors& states) {
    std::vector<graph::Tensor> given;
    for (const graph::ValueId id : graph.inputs()) given.push_back(inputs.at(graph.value(id).name));
    for (const graph::State& state : graph.states()) {
        const std::string& name = graph.value(state.before).name;
        if (!states.contains(name)) states[name] = *graph.first_value(state.before);
        given.push_back(states[name]);
    }
    const auto results = evaluate(graph, given);
    EXPECT_TRUE(results.ok()) << results.error().text();
    if (!results.ok()) return {};
    NamedTensors named;
    std::size_t next = 0;
    for (const graph::ValueId id : graph.outputs()) named[graph.value(id).name] = (*results)[next++];
    for (const graph::State& state : graph.states())
        states[graph.value(state.before).name] = (*results)[next++];
    return named;
}

// The largest difference between elements of two tensors of one type.
inline double furthest(const graph::Tensor& a, const graph::Tensor& b) {
    EXPECT_EQ(a.tensor_type(), b.tensor_type());
    double most = 0;
    for (std::int64_t i = 0; i < a.count(); ++i) most = std::max(most, std::abs(a.number(i) - b.number(i)));
    return most;
}

}  // namespace viridian::gradient
