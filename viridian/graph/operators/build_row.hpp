#pragma once
// Builds the rows of the operator table: one function for each class of operators. Each takes what every
// operator has, then the facts that differ from the defaults, by name:
//
//     contraction_row("Conv", {2, 3}, infer_convolution, polynomial_kernel(convolve),
//                     {.precision = precision::f32_sums, .flop = convolution_flop})
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// These constants say in which class for bf16 an operator is, and why. The lists are those of TensorFlow's
// automatic mixed precision for bf16, of PyTorch's CPU autocast and of OpenVINO.
namespace precision {
inline constexpr Precision f32_sums = {NumericSafety::allow, "f32 sums, compute-bound"};
inline constexpr Precision rounds_once = {NumericSafety::infer, "one rounding per element"};
inline constexpr Precision f32_statistics = {NumericSafety::infer,
                                             "bf16 has f32's range; statistics and sums stay f32"};
inline constexpr Precision only_moves = {NumericSafety::clear, "no rounding of its own"};
inline constexpr Precision compares = {
    NumericSafety::clear, "no rounding of its own: the result is a truth value, an index or an input"};
inline constexpr Precision converts = {NumericSafety::clear, "no rounding except what the model declares"};
inline constexpr Precision rounds_nothing = {NumericSafety::clear,
                                             "shapes, truth values and constants: nothing to round"};
inline constexpr Precision amplifies = {NumericSafety::deny, "amplifies relative errors"};
inline constexpr Precision jumps = {NumericSafety::deny, "a rounded input may move the result by a whole 1"};
inline constexpr Precision counts = {NumericSafety::deny, "bf16 holds integers exactly to 256 only"};
inline constexpr Precision unlisted = {};
}  // namespace precision

using ShapeRule = Result<void> (*)(Inference&);

// Makes the row of an operator of class `operator_class`. `infer` is its shape rule, `reference` its
// reference kernel.
constexpr OperatorRow make_row(OperatorClass operator_class, std::string_view name, Arity inputs,
                               ShapeRule infer, Reference reference, const OperatorFacts& facts) {
    OperatorRow row(facts);
    row.name = name;
    row.operator_class = operator_class;
    row.inputs = inputs;
    row.infer = infer;
    row.reference = reference;
    return row;
}

// The functions below make the row of an operator of the class in their name.
constexpr OperatorRow contraction_row(std::string_view name, Arity inputs, ShapeRule infer,
                                      Reference reference, const OperatorFacts& facts = {}) {
    return make_row(OperatorClass::contraction, name, inputs, infer, reference, facts);
}
constexpr OperatorRow normalization_row(std::string_view name, Arity inputs, ShapeRule infer,
                                        Reference reference, const OperatorFacts& facts = {}) {
    return make_row(OperatorClass::normalization, name, inputs, infer, reference, facts);
}
constexpr OperatorRow elementwise_row(std::string_view name, Arity inputs, ShapeRule infer,
                                      Reference reference, const OperatorFacts& facts = {}) {
    return make_row(OperatorClass::elementwise, name, inputs, infer, reference, facts);
}
// These are the facts of most operators that move elements and compute nothing.
inline constexpr OperatorFacts moving = {.precision = precision::only_moves, .elements = Elements::moved};
constexpr OperatorRow movement_row(std::string_view name, Arity inputs, ShapeRule infer, Reference reference,
                                   const OperatorFacts& facts = moving) {
    return make_row(OperatorClass::movement, name, inputs, infer, reference, facts);
}
constexpr OperatorRow control_row(std::string_view name, Arity inputs, ShapeRule infer, Reference reference,
                                  const OperatorFacts& facts = {}) {
    return make_row(OperatorClass::control, name, inputs, infer, reference, facts);
}

}  // namespace viridian::graph
