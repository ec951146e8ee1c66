#pragma once
// evaluate() runs a graph with the reference kernels: slowly, and as ONNX defines the operators.
#include "viridian/graph/reference/reference.hpp"

namespace viridian::graph {

// Runs `graph` in `Scalar`: float, double or PrimeField. `inputs` are in the order of graph.inputs(),
// followed by one per state. `rounding` says whether values are rounded to their element type. The result
// holds the outputs, followed by the new value of each state. `memory` bounds what memory_need() cannot
// count: the values whose shape is data, and those of bodies (reference/memory_budget.hpp). Errors: mismatch
// (types or shapes), unsupported (an operator that has no reference kernel for this scalar), limit_exceeded
// and out_of_memory (a value that `memory` does not hold, before it is allocated).
template <class Scalar>
[[nodiscard]] Result<std::vector<Array<Scalar>>> evaluate(const Graph& graph,
                                                          std::vector<Array<Scalar>> inputs,
                                                          Rounding rounding,
                                                          std::optional<Bytes> memory = std::nullopt);

// Runs `graph` as it is declared: in float, or in double if any value is f64. Inputs, outputs and errors
// are those of the first form.
[[nodiscard]] Result<std::vector<Tensor>> evaluate(const Graph& graph, const std::vector<Tensor>& inputs,
                                                   std::optional<Bytes> memory = std::nullopt);

// These convert between tensors and the arrays of reference kernels.
template <class Scalar>
[[nodiscard]] Array<Scalar> array_of(const Tensor& tensor);
template <class Scalar>
[[nodiscard]] Tensor tensor_of(const Array<Scalar>& array);

}  // namespace viridian::graph
