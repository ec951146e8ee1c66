#pragma once
// as_f32() takes a model in f16, bf16 or quantised integers as the f32 model that it was made from. Kernels
// for those types are slow here; f32 ones are not.
#include "viridian/graph/graph.hpp"

namespace viridian::session {

// A Widened is the widened graph, with counts of what as_f32() changed.
struct Widened {
    graph::Graph graph;
    int constants = 0;        // constants of f16 or bf16, now f32
    int nodes = 0;            // nodes that computed in f16 or bf16
    int quantised_pairs = 0;  // of QuantizeLinear and DequantizeLinear, now clamps
    [[nodiscard]] bool any() const { return constants + nodes + quantised_pairs > 0; }
};

// Returns `graph` with every value of f16 or bf16 in f32, bodies included, and with a clamp in place of each
// pair of QuantizeLinear and DequantizeLinear that have the same constant scale and zero point: the clamp to
// the numbers that the integers can stand for, on which models rely. Inputs and outputs keep their types:
// Casts stand between. Rounding that the model did between its nodes is no longer done, so outputs differ
// from the file's by that rounding. Errors: unsupported for a model with states; those of type inference.
[[nodiscard]] Result<Widened> as_f32(const graph::Graph& graph);

}  // namespace viridian::session
