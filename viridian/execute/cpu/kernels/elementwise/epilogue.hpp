#pragma once
// Reads the nodes after the head of a region as an epilogue: a chain of element-wise steps, each on the
// result of the step before.
#include <optional>
#include <vector>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// A Function is one element-wise function of x, and of an operand if it is binary.
enum class Function : std::uint8_t {
    relu,        // max(x, 0)
    leaky_relu,  // x < 0 ? alpha·x : x
    clip,        // min(max(x, alpha), beta)
    sigmoid,     // 1 / (1 + e^−x)
    tanh,
    elu,       // x < 0 ? alpha·(e^x − 1) : x
    gelu_erf,  // x·(1 + erf(x/√2)) / 2
    gelu_tanh,
    hard_sigmoid,  // clip(alpha·x + beta, 0, 1)
    hard_swish,    // x·clip(x/6 + 1/2, 0, 1)
    softplus,      // log(1 + e^x)
    exp,
    log,
    sqrt,
    erf,
    abs,
    neg,
    reciprocal,
    square,
    sign,
    floor,
    ceil,
    round,             // half to even
    thresholded_relu,  // x > alpha ? x : 0
    selu,              // beta·(x > 0 ? x : alpha·(e^x − 1))
    celu,              // x > 0 ? x : alpha·(e^(x/alpha) − 1)
    shrink,            // x > alpha ? x − beta : x < −alpha ? x + beta : 0
    softsign,          // x / (1 + |x|)
    swish,             // x / (1 + e^(−alpha·x))
    mish,              // x·tanh(log(1 + e^x))
    sin,
    cos,
    tan,
    asin,
    acos,
    atan,
    sinh,
    cosh,
    asinh,
    acosh,
    atanh,
    add,  // x ∘ operand, or operand ∘ x if `reversed`
    sub,
    mul,
    div,
    min,
    max,
    pow,
    relu_gradient,  // operand > 0 ? x : 0
    clip_gradient,  // alpha <= operand <= beta ? x : 0
};
[[nodiscard]] constexpr bool is_binary(Function f) { return f >= Function::add; }

// An EpilogueStep applies `function`, whose parameters are `alpha` and `beta`.
struct EpilogueStep {
    Function function = Function::relu;
    float alpha = 0;
    float beta = 0;
    graph::ValueId operand = graph::ValueId::none;  // of a binary step
    bool reversed = false;                          // the operand is on the left
};

// Returns whether the step makes 0 of x = 0. A binary step does only if its operand is 0 too, and then not
// always: 0 / 0 is NaN.
[[nodiscard]] bool keeps_zero(const EpilogueStep& step, bool operand_is_zero = false);

// Returns the node as one step on its input `x`, or nothing if it is no such function or not in f32.
[[nodiscard]] std::optional<EpilogueStep> as_step(const Task& task, const graph::Node& node,
                                                  graph::ValueId x);

// A Gate is a product x·f(x) that the graph writes as two or three nodes and that one step on x computes.
struct Gate {
    EpilogueStep step;
    std::size_t nodes;
};
// Returns the gate on `x` that begins with node `i` of the region, or nothing.
[[nodiscard]] std::optional<Gate> gate_at(const Task& task, std::size_t i, graph::ValueId x);

// Returns the nodes [first, last) of the region as steps on `value`, x·Sigmoid(αx) as one step, or nothing if
// a node cannot be one. Operands are region inputs or constants whose shape broadcasts into the value's
// without changing it. Advances `value` to the result of the last step.
[[nodiscard]] std::optional<std::vector<EpilogueStep>> read_step_range(const Task& task, std::size_t first,
                                                                       std::size_t last,
                                                                       graph::ValueId& value);

// Returns all nodes after the region's first one likewise, or nothing if the result is not the region's only
// output.
[[nodiscard]] std::optional<std::vector<EpilogueStep>> read_epilogue(const Task& task);

}  // namespace viridian::execute::cpu
