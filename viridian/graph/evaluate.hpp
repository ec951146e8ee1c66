#pragma once
// Runs a graph with the reference kernels.
#include "viridian/graph/operators/reference.hpp"

namespace viridian::graph {

// `inputs` in the order of graph.inputs(), then one per state. Returns the outputs, then each state's new
// value. Errors: mismatch (types, shapes), unsupported (an operator without a reference kernel for this
// scalar).
template <class Scalar>
[[nodiscard]] Result<std::vector<Array<Scalar>>> evaluate(const Graph& graph,
                                                          std::vector<Array<Scalar>> inputs,
                                                          Rounding rounding);

// The model as it is declared: in float, or in double where a value is f64.
[[nodiscard]] Result<std::vector<Tensor>> evaluate(const Graph& graph, const std::vector<Tensor>& inputs);

template <class Scalar>
[[nodiscard]] Array<Scalar> array_of(const Tensor& tensor);
template <class Scalar>
[[nodiscard]] Tensor tensor_of(const Array<Scalar>& array);

}  // namespace viridian::graph
