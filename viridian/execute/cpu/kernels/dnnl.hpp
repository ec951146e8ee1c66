#pragma once
// Translates layouts and element types to oneDNN's and back, and makes kernels of oneDNN's primitives.
#include <optional>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

[[nodiscard]] dnnl::memory::data_type dnnl_type(graph::ElementType type);  // undef if oneDNN has none
// Returns the descriptor of a tensor of `dims` in `layout`.
[[nodiscard]] dnnl::memory::desc descriptor(const plan::Layout& layout, const graph::Dims& dims,
                                            graph::ElementType type);
// Returns the descriptor of an unpadded, row-major tensor.
[[nodiscard]] dnnl::memory::desc plain_descriptor(const graph::Dims& dims, graph::ElementType type);
// Returns the descriptor of a tensor whose layout oneDNN may choose.
[[nodiscard]] dnnl::memory::desc any_descriptor(const graph::Dims& dims, graph::ElementType type);
// Returns the layout that a descriptor describes (plain, channels last, channels in blocks, or a dense
// permutation), or nothing if it is another.
[[nodiscard]] std::optional<plan::Layout> layout_of(const dnnl::memory::desc& descriptor,
                                                    const graph::Dims& dims);

// An Argument is an argument of a primitive, with the memory that it has in each run.
struct Argument {
    enum class From : std::uint8_t { input, output, constant, workspace } from = From::input;
    std::size_t index = 0;  // of the inputs, outputs or constants; in the workspace: an offset in bytes
    int argument = 0;       // oneDNN's number of it, such as DNNL_ARG_SRC
    dnnl::memory::desc descriptor;
};

// A Stage is a primitive that runs as a part of a kernel, with its arguments.
struct Stage {
    dnnl::primitive primitive;
    std::vector<Argument> arguments;
    dnnl::memory::desc scratchpad;  // empty if it needs none
};

// Makes a kernel of primitives that run one after the other (`user_scratchpad`). They share one scratch,
// which lies in the workspace behind its first `kept` bytes; these hold what one stage leaves for another.
[[nodiscard]] Kernel staged_kernel(const Context& context, std::vector<Stage> stages,
                                   std::vector<Packed> constants, std::int64_t kept);

// Returns the stage that copies one memory into another, whose layout or element type is another.
[[nodiscard]] Stage reorder_stage(const Context& context, Argument from, Argument to);

// Makes a kernel of a primitive whose scratch is the kernel's workspace (`user_scratchpad`), so that runs on
// several threads may share the primitive. `constants` are already packed.
[[nodiscard]] Kernel primitive_kernel(const Context& context, const dnnl::primitive& primitive,
                                      std::vector<Argument> arguments, std::vector<Packed> constants,
                                      const dnnl::memory::desc& scratchpad);

// Returns the constant `id`, whose elements lie as `from` says, reordered into `to`.
[[nodiscard]] Packed pack_constant(const Task& task, graph::ValueId id, const dnnl::memory::desc& from,
                                   const dnnl::memory::desc& to);

// Returns the attributes that every primitive of ours has: the caller provides its scratch.
[[nodiscard]] dnnl::primitive_attr user_scratchpad();

// Returns whether an implementation of this name can win here. Reference code never does, nor does code for
// older instruction sets if the processor has better ones.
[[nodiscard]] bool worth_offering(std::string_view implementation);

}  // namespace viridian::execute::cpu
