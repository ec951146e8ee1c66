#pragma once
// Declares the kernels of the CPU device. A family offers its kernels for a region as choices, and makes one
// of them ready to run.
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>

#include "viridian/execute/cpu/buffer.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::execute::cpu {

// Tells a kernel where one run reads and writes, in the order of the region's inputs and outputs and of
// Kernel::constants.
struct Pointers {
    const std::byte* const* inputs = nullptr;
    std::byte* const* outputs = nullptr;
    const std::byte* const* constants = nullptr;
    std::byte* workspace = nullptr;  // 64-byte aligned, as large as Kernel::workspace
    void* bindings = nullptr;        // what Kernel::make_bindings made
};

// Thrown by a kernel whose input it cannot take (an index out of range); the executable returns its error.
struct KernelFailure {
    Error error;
};

// A kernel made ready for one region. Runs on several threads may share it: a run changes nothing but what
// its Pointers point to. What a library wants prepared for fixed addresses is in the bindings, one for each
// of the runs that overlap.
struct Kernel {
    std::function<void(const Pointers&)> run;              // allocates nothing of ours
    std::function<std::shared_ptr<void>()> make_bindings;  // empty: the kernel needs none
    std::function<void(const Pointers&)> bind;             // with make_bindings: call it after each change
    std::vector<Packed> constants;
    Bytes workspace;
};

// Holds what all kernels of one device share.
struct Context {
    dnnl::engine engine;
    dnnl::stream stream;
    int threads = 1;
    Allowances allowances;
    std::shared_ptr<PackedConstants> packed;
};

// A region of a graph, for which kernels are offered or prepared.
struct Task {
    const Context& context;
    const graph::Graph& graph;
    const plan::Region& region;

    [[nodiscard]] const graph::Node& node(std::size_t i = 0) const { return graph.node(region.nodes[i]); }
    [[nodiscard]] const graph::TensorType& type(graph::ValueId id) const { return graph.value(id).type; }
    [[nodiscard]] graph::Dims dims(graph::ValueId id) const { return type(id).dims(); }
    // Returns the position among the region's inputs, or nothing.
    [[nodiscard]] std::optional<std::size_t> input_index(graph::ValueId id) const;
    // Tells whether the last node's first output leaves the region. Kernels count on it. If only other
    // outputs do (a Dropout's mask), or none, only the reference kernel is offered.
    [[nodiscard]] bool reads_first_output() const;
    [[nodiscard]] bool all_f32() const;  // every floating port and constant
    // Returns a choice, computed directly, whose every port is plain and of its value's type. Kernels then
    // change what they need.
    [[nodiscard]] plan::Choice plain_choice(std::string kernel) const;
};

// Kernels of one kind. The name of every kernel starts with its family's.
struct Family {
    std::string_view name;  // "dnnl:conv"
    std::vector<plan::Choice> (*offers)(const Task&);
    // `choice` was offered for a region of equal signature. Errors: unsupported.
    Result<Kernel> (*prepare)(const Task&, const plan::Choice&);
    bool any_outputs = false;  // copes with regions whose first output is not read
};

// Returns all families, best known first, the reference last.
[[nodiscard]] std::span<const Family> families();
[[nodiscard]] const Family* family_of(std::string_view kernel);

// Returns a constant as it is, row-major and shared.
[[nodiscard]] Packed plain_constant(const Task& task, graph::ValueId id);

// Returns the error of a family that lacks the kernel of `choice`.
[[nodiscard]] Error unknown_kernel(const plan::Choice& choice);

}  // namespace viridian::execute::cpu
