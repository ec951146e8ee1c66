#pragma once
// An epilogue as oneDNN post-operations: a residual that dies is summed in place, other operands are binary.
#include "viridian/execute/cpu/dnnl.hpp"
#include "viridian/execute/cpu/epilogue.hpp"

namespace viridian::execute::cpu {

struct PostOps {
    dnnl::primitive_attr attributes;        // with user scratchpad
    std::optional<std::size_t> summed;      // region input that the destination overwrites
    std::vector<Argument> arguments;        // of binary operands
    std::vector<graph::ValueId> constants;  // binary operands to be given as constants, in argument order
};

// For a destination of `dims` in `layout`; operands of the destination's shape are read in that layout and
// `element` type too.
// `sum_in_place`: add the first dying full-size residual by overwriting it. Nothing where oneDNN cannot.
// Constants get indices from `first_constant` on.
[[nodiscard]] std::optional<PostOps> post_ops(const Task& task, const std::vector<Step>& steps,
                                              const graph::Dims& dims, const plan::Layout& layout,
                                              bool sum_in_place, std::size_t first_constant,
                                              graph::ElementType element = graph::ElementType::f32);

// Sets the formats of the epilogue's own inputs in a choice.
void set_operand_formats(const Task& task, const std::vector<Step>& steps, const graph::Dims& dims,
                         const plan::Format& format, plan::Choice& choice);

// Sets what an implementation with these operations overwrites, and its scratch.
void set_memory(const PostOps& operations, const dnnl::memory::desc& scratchpad, plan::Choice& choice);

// One step as an oneDNN eltwise algorithm: {algorithm, alpha, beta}.
struct Eltwise {
    dnnl::algorithm algorithm;
    float alpha, beta;
};
[[nodiscard]] std::optional<Eltwise> eltwise_of(const Step& step);
[[nodiscard]] std::optional<dnnl::algorithm> binary_of(const Step& step);

}  // namespace viridian::execute::cpu
