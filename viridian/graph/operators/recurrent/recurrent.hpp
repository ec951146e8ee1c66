#pragma once
// Declares what RNN, GRU and LSTM share: their shape rule, their counts, and their activation functions with
// parameters.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// X [sequence, batch, input] (layout 1: [batch, sequence, input]), W [directions, gates·hidden, input],
// R [directions, gates·hidden, hidden], B [directions, 2·gates·hidden], sequence_lens [batch],
// initial_h [directions, batch, hidden], LSTM also initial_c and P [directions, 3·hidden].
[[nodiscard]] Result<void> infer_recurrent(Inference& inference, std::int64_t gates);

struct GateFunction {
    std::string name;
    double alpha = 0;
    double beta = 0;
    [[nodiscard]] double operator()(double x) const;
};
// Returns the functions of the gates for each of `directions`; `otherwise` are the defaults of ONNX for one
// direction. Errors: malformed.
[[nodiscard]] Result<std::vector<GateFunction>> gate_functions(const Node& node, std::size_t directions,
                                                               const std::vector<std::string>& otherwise);

[[nodiscard]] Flop recurrent_flop(const Operation& operation);
[[nodiscard]] IterationSpace recurrent_space(const Operation& operation);

}  // namespace viridian::graph
