#pragma once
// Declares what RNN, GRU and LSTM share: their shape rule, their counts, and their activation functions with
// parameters.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// This is the shape rule of a recurrent operator whose cell has `gates` gates. Errors: mismatch, malformed.
// The inputs are, in this order:
//   X [sequence, batch, input], W [directions, gates·hidden, input], R [directions, gates·hidden, hidden],
//   B [directions, 2·gates·hidden], sequence_lens [batch], initial_h [directions, batch, hidden]
// and for LSTM also initial_c, which is like initial_h, and P [directions, 3·hidden]. With the attribute
// `layout` 1 the batch comes first: X [batch, sequence, input], initial_h [batch, directions, hidden].
[[nodiscard]] Result<void> infer_recurrent(Inference& inference, std::int64_t gates);

// A GateFunction is one activation function of ONNX, by its name, with its parameters.
struct GateFunction {
    std::string name;
    double alpha = 0;
    double beta = 0;
    // Returns the value of the function at `x`.
    [[nodiscard]] double operator()(double x) const;
};
// Returns the activation functions of a node: one for each gate of the first of `directions` directions,
// then of the second. They are the attributes `activations`, `activation_alpha` and `activation_beta`.
// `otherwise` names the defaults of ONNX for one direction. Errors: malformed (a wrong number of names, or
// one that does not exist).
[[nodiscard]] Result<std::vector<GateFunction>> gate_functions(const Node& node, std::size_t directions,
                                                               const std::vector<std::string>& otherwise);

// Returns the flop of both matrix products and of about five operations per gate.
[[nodiscard]] Flop recurrent_flop(const Operation& operation);
// Returns the loops over directions, steps, batch and gates, and over the sums of both products.
[[nodiscard]] IterationSpace recurrent_space(const Operation& operation);

}  // namespace viridian::graph
