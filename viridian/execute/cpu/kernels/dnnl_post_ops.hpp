#pragma once
// Expresses an epilogue as oneDNN post-operations. A residual that dies is summed in place; other operands
// become binary operations.
#include "viridian/execute/cpu/kernels/dnnl.hpp"
#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"

namespace viridian::execute::cpu {

// PostOps are the post-operations of a oneDNN primitive, with the operands that it reads for them.
struct PostOps {
    dnnl::primitive_attr attributes;        // with user scratchpad
    std::optional<std::size_t> summed;      // region input that the destination overwrites
    std::vector<Argument> arguments;        // of binary operands
    std::vector<graph::ValueId> constants;  // binary operands to be given as constants, in argument order
};

// Returns the post-operations for a destination of `dims` in `layout`. Region inputs of the destination's
// shape are read in its layout and as `element`, all other operands in plain f32. With `sum_in_place` the
// first full-size residual that dies is added by overwriting it. Constants get indices from `first_constant`
// on. Returns nothing if oneDNN cannot do a step, if the head of the region reads a step's operand too, or if
// `sum_in_place` is set and no residual can be overwritten.
[[nodiscard]] std::optional<PostOps> post_ops(const Task& task, const std::vector<EpilogueStep>& steps,
                                              const graph::Dims& dims, const plan::Layout& layout,
                                              bool sum_in_place, std::size_t first_constant,
                                              graph::ElementType element = graph::ElementType::f32);

// Sets the format of every operand of `steps` that has dimensions `dims` and is a region input to `format`,
// in `choice`.
void set_operand_formats(const Task& task, const std::vector<EpilogueStep>& steps, const graph::Dims& dims,
                         const plan::Format& format, plan::Choice& choice);

// Sets the input that an implementation with these operations overwrites, and its scratch, in `choice`.
void set_memory(const PostOps& operations, const dnnl::memory::desc& scratchpad, plan::Choice& choice);

// An Eltwise is an element-wise algorithm of oneDNN, with its parameters.
struct Eltwise {
    dnnl::algorithm algorithm;
    float alpha, beta;
};
// These return the algorithm of a unary or a binary step; nothing if oneDNN has none.
[[nodiscard]] std::optional<Eltwise> eltwise_of(const EpilogueStep& step);
[[nodiscard]] std::optional<dnnl::algorithm> binary_of(const EpilogueStep& step);

}  // namespace viridian::execute::cpu
