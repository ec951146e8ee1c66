#pragma once
// Reads the ports of a single node for the kernels of training steps.
#include <initializer_list>
#include <optional>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"

namespace viridian::execute::cpu {

// A Port is a tensor that a kernel reads in f32: an input of the region, stored in f32 or bf16, or a
// constant.
struct Port {
    std::optional<std::size_t> input;
    std::size_t constant = 0;
    bool absent = true;
    bool bf16 = false;

    // Returns where the tensor lies in this run; null if it is absent.
    [[nodiscard]] const float* at(const Pointers& pointers) const {
        if (absent) return nullptr;
        return reinterpret_cast<const float*>(input ? pointers.inputs[*input] : pointers.constants[constant]);
    }
    // Returns elements [first, first + n) in f32; null if the tensor is absent. `wide` has room for them.
    [[nodiscard]] const float* at(const Pointers& pointers, std::int64_t first, std::int64_t n,
                                  float* wide) const {
        if (absent) return nullptr;
        if (!bf16) return at(pointers) + first;
        simd::widen(reinterpret_cast<const std::uint16_t*>(at(pointers)) + first, wide, n);
        return wide;
    }
};

// Returns the port of `id`, in f32, or stored as `choice` says. A constant is added to the kernel.
[[nodiscard]] Port port_of(const Task& task, graph::ValueId id, Kernel& kernel);
[[nodiscard]] Port port_of(const Task& task, const plan::Choice& choice, graph::ValueId id, Kernel& kernel);

// Returns the position of `id` among the region's outputs, or nothing if nobody reads it.
[[nodiscard]] std::optional<std::size_t> output_index(const Task& task, graph::ValueId id);
// Returns the position of output `i` of the region's only node among the region's outputs, or nothing if
// nobody reads it.
[[nodiscard]] std::optional<std::size_t> output_index(const Task& task, std::size_t i);

// Returns whether `id` is an f32 tensor of these dimensions.
[[nodiscard]] bool is_f32_of(const Task& task, graph::ValueId id, const graph::Dims& dims);

// A BodyPart says how many nodes of an operator a body has.
struct BodyPart {
    graph::KnownOperator op;
    int least = 1, most = 1;
};

// Returns whether the node's only body has these nodes, and no others but those that only change types, dims
// or the order of axes. A file may give any body to an operator of the domain `viridian`; a kernel that
// computes what the operator means asks first whether the body can mean that.
[[nodiscard]] bool body_consists_of(const graph::Node& node, std::initializer_list<BodyPart> parts);

}  // namespace viridian::execute::cpu
