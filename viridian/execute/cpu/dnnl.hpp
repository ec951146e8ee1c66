#pragma once
// Our layouts and types as oneDNN's and back, and primitives as kernels.
#include <optional>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

[[nodiscard]] dnnl::memory::data_type dnnl_type(graph::ElementType type);  // undef where oneDNN has none
[[nodiscard]] dnnl::memory::desc descriptor(const plan::Layout& layout, const graph::Dims& dims,
                                            graph::ElementType type);
// Unpadded and row-major.
[[nodiscard]] dnnl::memory::desc plain_descriptor(const graph::Dims& dims, graph::ElementType type);
[[nodiscard]] dnnl::memory::desc any_descriptor(const graph::Dims& dims, graph::ElementType type);
// The layout a descriptor describes: plain, channels last, channels in blocks, or a dense permutation.
[[nodiscard]] std::optional<plan::Layout> layout_of(const dnnl::memory::desc& descriptor,
                                                    const graph::Dims& dims);

// An argument of a primitive: where its memory comes from at each run.
struct Argument {
    enum class From : std::uint8_t { input, output, constant, workspace } from = From::input;
    std::size_t index = 0;
    int argument = 0;  // DNNL_ARG_SRC
    dnnl::memory::desc descriptor;
};

// A primitive with user-managed scratch as a kernel. `constants` are already packed.
[[nodiscard]] Kernel primitive_kernel(const Context& context, const dnnl::primitive& primitive,
                                      std::vector<Argument> arguments, std::vector<Packed> constants,
                                      const dnnl::memory::desc& scratchpad);

// The constant reordered into `to`; seen under `dims` (of equal count) in row-major order, or with `from`.
[[nodiscard]] Packed pack_constant(const Task& task, graph::ValueId id, const dnnl::memory::desc& from,
                                   const dnnl::memory::desc& to);

// Attributes every primitive of ours has.
[[nodiscard]] dnnl::primitive_attr user_scratchpad();

// Implementations that never win where better instructions exist: reference code and older instruction sets.
[[nodiscard]] bool worth_offering(std::string_view implementation);

}  // namespace viridian::execute::cpu
