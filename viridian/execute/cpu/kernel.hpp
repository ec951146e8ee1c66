#pragma once
// A kernel of the CPU device: offered for a region, then made ready for one choice.
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>

#include "viridian/execute/cpu/buffer.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::execute::cpu {

// Where a run reads and writes: in the order of the region's inputs, outputs and of Kernel::constants.
struct Pointers {
    const std::byte* const* inputs = nullptr;
    std::byte* const* outputs = nullptr;
    const std::byte* const* constants = nullptr;
    std::byte* workspace = nullptr;  // 64-byte aligned, as large as Kernel::workspace
};

// Thrown by a kernel whose input it cannot take (an index out of range); the executable returns its error.
struct KernelFailure {
    Error error;
};

struct Kernel {
    std::function<void(const Pointers&)> run;   // allocates nothing of ours
    std::function<void(const Pointers&)> bind;  // where set: before run, each time a pointer has changed
    std::vector<Packed> constants;
    Bytes workspace;
};

// What kernels share on one device.
struct Context {
    dnnl::engine engine;
    dnnl::stream stream;
    int threads = 1;
    Allowances allowances;
    std::shared_ptr<PackedConstants> packed;
};

struct Task {
    const Context& context;
    const graph::Graph& graph;
    const plan::Region& region;

    [[nodiscard]] const graph::Node& node(std::size_t i = 0) const { return graph.node(region.nodes[i]); }
    [[nodiscard]] const graph::TensorType& type(graph::ValueId id) const { return graph.value(id).type; }
    [[nodiscard]] graph::Dims dims(graph::ValueId id) const { return type(id).dims(); }
    // Position among the region's inputs, or nothing.
    [[nodiscard]] std::optional<std::size_t> input_index(graph::ValueId id) const;
    // The last node's first output leaves the region. Kernels count on it; where only others do (a Dropout's
    // mask), or nothing does, the reference is left.
    [[nodiscard]] bool reads_first_output() const;
    [[nodiscard]] bool all_f32() const;  // every floating port and constant
    // A choice whose every port is plain and of its value's type; kernels then change what they care about.
    [[nodiscard]] plan::Choice plain_choice(std::string kernel) const;
};

// Every kernel's name starts with its family's.
struct Family {
    std::string_view name;  // "dnnl:conv"
    std::vector<plan::Choice> (*offers)(const Task&);
    // `choice` was offered for a region of equal signature. Errors: unsupported.
    Result<Kernel> (*prepare)(const Task&, const plan::Choice&);
    bool any_outputs = false;  // copes with regions whose first output is not read
};

// All families, best known first, the reference last.
[[nodiscard]] std::span<const Family> families();
[[nodiscard]] const Family* family_of(std::string_view kernel);

// A constant as it is, row-major, shared.
[[nodiscard]] Packed plain_constant(const Task& task, graph::ValueId id);

// For a prepare() that cannot do what it is asked.
[[nodiscard]] Error unknown_kernel(const plan::Choice& choice);

}  // namespace viridian::execute::cpu
