#pragma once
// Expresses an epilogue as oneDNN post-operations. A residual that dies is summed in place; other operands
// become binary operations.
#include "viridian/execute/cpu/kernels/dnnl.hpp"
#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"

namespace viridian::execute::cpu {

struct PostOps {
    dnnl::primitive_attr attributes;        // with user scratchpad
    std::optional<std::size_t> summed;      // region input that the destination overwrites
    std::vector<Argument> arguments;        // of binary operands
    std::vector<graph::ValueId> constants;  // binary operands to be given as constants, in argument order
};

// Returns the post-operations for a destination of `dims` in `layout`, or nothing if oneDNN cannot do a step.
// Operands of the destination's shape are read in its layout and in `element`. With `sum_in_place` the first
// full-size residual that dies is added by overwriting it. Constants get indices from `first_constant` on.
[[nodiscard]] std::optional<PostOps> post_ops(const Task& task, const std::vector<EpilogueStep>& steps,
                                              const graph::Dims& dims, const plan::Layout& layout,
                                              bool sum_in_place, std::size_t first_constant,
                                              graph::ElementType element = graph::ElementType::f32);

// Sets the formats of the epilogue's own inputs in a choice.
void set_operand_formats(const Task& task, const std::vector<EpilogueStep>& steps, const graph::Dims& dims,
                         const plan::Format& format, plan::Choice& choice);

// Sets what an implementation with these operations overwrites, and its scratch.
void set_memory(const PostOps& operations, const dnnl::memory::desc& scratchpad, plan::Choice& choice);

// One unary step as an element-wise algorithm of oneDNN.
struct Eltwise {
    dnnl::algorithm algorithm;
    float alpha, beta;
};
[[nodiscard]] std::optional<Eltwise> eltwise_of(const EpilogueStep& step);
[[nodiscard]] std::optional<dnnl::algorithm> binary_of(const EpilogueStep& step);

}  // namespace viridian::execute::cpu
