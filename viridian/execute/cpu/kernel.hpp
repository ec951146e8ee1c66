#pragma once
// Declares the kernels of the CPU device. A family offers its kernels for a region as choices, and makes one
// of them ready to run.
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>

#include "viridian/execute/cpu/buffer.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::execute::cpu {

// Pointers tell a kernel where one run reads and writes, in the order of the region's inputs and outputs
// and of Kernel::constants.
struct Pointers {
    const std::byte* const* inputs = nullptr;
    std::byte* const* outputs = nullptr;
    const std::byte* const* constants = nullptr;
    std::byte* workspace = nullptr;  // 64-byte aligned, as large as Kernel::workspace
    void* bindings = nullptr;        // made by Kernel::make_bindings; null if the kernel needs none
};

// A kernel throws a KernelFailure if it cannot take an input (an index out of range, for example). The
// executable returns its error.
struct KernelFailure {
    Error error;
};

// A Kernel is ready to run for one region. Several threads may run it at once, because a run changes
// nothing but what its Pointers point to. Some libraries prepare objects for fixed addresses, such as the
// memories of oneDNN. These objects are the bindings; runs that may overlap have bindings of their own.
struct Kernel {
    // Computes the outputs. It allocates nothing of ours.
    std::function<void(const Pointers&)> run;
    // Makes the bindings of one run. The function is empty if the kernel needs none.
    std::function<std::shared_ptr<void>()> make_bindings;
    // Tells the bindings the addresses; called after each change of these. Empty without make_bindings.
    std::function<void(const Pointers&)> bind;
    std::vector<Packed> constants;  // packed weights
    Bytes workspace;                // scratch of one run
    int threads = 0;                // it runs on; 0: all of the device
};

class Pool;  // pool/pool.hpp

// A Context holds what all kernels of one device share.
struct Context {
    dnnl::engine engine;
    dnnl::stream stream;
    int threads = 1;
    Allowances allowances;
    std::shared_ptr<PackedConstants> packed;
    std::shared_ptr<Pool> pool;                  // of as many threads, or more
    std::optional<Bytes> memory = std::nullopt;  // CpuOptions::memory
    bool bf16_products = false;                  // execute::multiplies_bf16()

    // Returns whether kernels may multiply in bf16. They may store in bf16 whenever `allowances.bf16` is set,
    // whatever the processor is.
    [[nodiscard]] bool multiplies_bf16() const { return allowances.bf16 && bf16_products; }
    // Returns the same for kernels on fewer threads; 0 stands for all.
    [[nodiscard]] Context on(int fewer) const {
        Context own = *this;
        if (fewer != 0) own.threads = fewer;
        return own;
    }
};

// A Task is a region of a graph, for which kernels are offered or prepared.
struct Task {
    const Context& context;
    const graph::Graph& graph;
    const plan::Region& region;

    // Returns node number `i` of the region, in execution order.
    [[nodiscard]] const graph::Node& node(std::size_t i = 0) const { return graph.node(region.nodes[i]); }
    [[nodiscard]] const graph::TensorType& type(graph::ValueId id) const { return graph.value(id).type; }
    [[nodiscard]] graph::Dims dims(graph::ValueId id) const { return type(id).dims(); }
    // Returns the position of value `id` among the region's inputs, or nothing if it is none of them.
    [[nodiscard]] std::optional<std::size_t> input_index(graph::ValueId id) const;
    // Returns whether the region's first output is the first output of its last node. Most kernels rely on
    // that. Otherwise (if only the mask of a Dropout is read, for example) the device asks only families
    // with `any_outputs` for kernels.
    [[nodiscard]] bool reads_first_output() const;
    // Returns whether every floating-point input, output and constant of the region is f32.
    [[nodiscard]] bool all_f32() const;
    // Returns a choice of the kernel named `kernel` that computes directly and whose every port is plain
    // and of its value's type. Kernels then change what they need.
    [[nodiscard]] plan::Choice plain_choice(std::string kernel) const;
};

// A Family holds kernels of one kind. The name of every kernel starts with that of its family.
struct Family {
    std::string_view name;  // "dnnl:conv"
    // Returns the choices of this family for a region; none if it cannot compute the region.
    std::vector<plan::Choice> (*offers)(const Task&);
    // Makes the kernel of `choice` ready, which was offered for a region of equal signature. The function
    // is null for the family of views, which have no work to do. Errors: unsupported.
    Result<Kernel> (*prepare)(const Task&, const plan::Choice&);
    bool any_outputs = false;  // the family also computes regions whose first output is not read
};

// Returns all families, best known first, the reference last.
[[nodiscard]] std::span<const Family> families();
// Returns the family of the kernel of this name, or null.
[[nodiscard]] const Family* family_of(std::string_view kernel);

// Returns `bytes` rounded up so that what follows in a workspace is aligned.
[[nodiscard]] constexpr std::int64_t aligned_bytes(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Returns a constant as it is, row-major and shared.
[[nodiscard]] Packed plain_constant(const Task& task, graph::ValueId id);

// Returns the error of a family that lacks the kernel of `choice`.
[[nodiscard]] Error unknown_kernel(const plan::Choice& choice);

}  // namespace viridian::execute::cpu
