#pragma once
// What a region does after its head: a chain of element-wise steps, each on the value of the one before.
#include <optional>
#include <vector>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

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
    add,  // x ∘ operand, or operand ∘ x where `reversed`
    sub,
    mul,
    div,
    min,
    max,
    pow,
};
[[nodiscard]] constexpr bool is_binary(Function f) { return f >= Function::add; }

struct Step {
    Function function = Function::relu;
    float alpha = 0;
    float beta = 0;
    graph::ValueId operand = graph::ValueId::none;  // of a binary step
    bool reversed = false;                          // the operand is on the left
};

// A unary step that makes 0 of 0.
[[nodiscard]] bool keeps_zero(const Step& step);

// The node as one step on input `x`; nothing where it is none of the above or not in f32.
[[nodiscard]] std::optional<Step> as_step(const Task& task, const graph::Node& node, graph::ValueId x);

// Nodes first..last of the region as steps on `value`, x·Sigmoid(αx) as one; nothing where one cannot be.
// Operands are region inputs or constants whose shape broadcasts into the value's without changing it.
[[nodiscard]] std::optional<std::vector<Step>> read_steps(const Task& task, std::size_t first,
                                                          graph::ValueId value);

// The region as head and epilogue; nothing where it does not have exactly one output.
[[nodiscard]] std::optional<std::vector<Step>> read_epilogue(const Task& task);

}  // namespace viridian::execute::cpu
