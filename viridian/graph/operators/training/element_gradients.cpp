// Gradients of activations, tables and losses, as single operators of the domain `viridian`. The body of each
// node is its meaning and its reference kernel (viridian/gradient/rules/); the rows say what a body cannot.
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {
namespace {

// Each element of g is added once.
Flop additions(const Operation& operation) { return Flop(product(operation.inputs[0].dims())); }

// A loop over g: the axes of the table are summed over the places that were read.
IterationSpace scattered_space(const Operation& operation) {
    IterationSpace space;
    for (const std::int64_t extent : operation.inputs[0].dims()) space.push_back({extent, false});
    const auto axis = static_cast<std::size_t>(operation.node.integer("axis", 0));
    const std::size_t width = operation.inputs[1].dims().size();
    for (std::size_t k = axis; k < axis + width && k < space.size(); ++k) space[k].reduced = true;
    return space;
}

// Softmax along the classes, and a difference and a product for each score.
Flop entropy_gradient_flop(const Operation& operation) {
    return Flop(6 * product(operation.inputs[1].dims()));
}
IterationSpace entropy_gradient_space(const Operation& operation) {
    IterationSpace space;
    for (const std::int64_t extent : operation.inputs[1].dims()) space.push_back({extent, space.size() == 1});
    return space;
}

}  // namespace

std::span<const OperatorRow> element_gradient_operators() {
    static constexpr OperatorRow rows[] = {
        // Its Exp alone would deny bf16, but the slope lies between -0.2 and 1.2 and changes slowly.
        elementwise_row("GeluGrad", {2, 2}, nullptr, {},
                        {.domain = "viridian", .precision = precision::rounds_once}),
        elementwise_row("ReluGrad", {2, 2}, nullptr, {},
                        {.domain = "viridian", .precision = precision::rounds_once}),
        elementwise_row("ClipGrad", {4, 4}, nullptr, {},
                        {.domain = "viridian", .precision = precision::rounds_once}),
        movement_row("GatherGrad", {2, 2}, nullptr, {},
                     {.domain = "viridian",
                      .precision = precision::f32_statistics,
                      .flop = additions,
                      .iteration_space = scattered_space}),
        normalization_row("CrossEntropyGrad", {3, 4}, nullptr, {},
                          {.domain = "viridian",
                           .precision = precision::amplifies,
                           .flop = entropy_gradient_flop,
                           .iteration_space = entropy_gradient_space}),
    };
    return rows;
}

}  // namespace viridian::graph
