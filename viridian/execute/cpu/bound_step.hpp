#pragma once
// Makes the kernel of a plan's step ready to run, and binds it to the memory of one run state.
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {

// Returns a kernel for a choice of one of the families. Errors: unsupported, device_failed, out_of_memory.
[[nodiscard]] Result<Kernel> prepare_kernel(const Task& task, const plan::Choice& choice);

// Returns the kernel of a step, or of its conversion, for the threads that `context` and the calling thread
// have, whatever the step asks for. Errors: those of prepare_kernel.
[[nodiscard]] Result<Kernel> prepare_here(const Context& context, const graph::Graph& graph,
                                          const plan::Plan& plan, const plan::Step& step);

// Returns the same for the threads that the step asks for. Errors: those of prepare_kernel.
[[nodiscard]] Result<Kernel> prepare_step(const Context& context, const graph::Graph& graph,
                                          const plan::Plan& plan, const plan::Step& step);

// A BoundStep is a kernel with the addresses of one run state. Other run states share the kernel.
struct BoundStep {
    std::shared_ptr<const Kernel> kernel;
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    std::vector<const std::byte*> constants;
    std::shared_ptr<void> bindings;
    Pointers pointers;  // to the members above

    // Completes the pointers; `workspace` is the scratch of the run state. Call it once, when `inputs` and
    // `outputs` have their final sizes.
    void point(std::byte* workspace);
    // Tells the kernel's library the addresses. Call it after each change of `inputs` or `outputs`.
    void bind() const {
        if (kernel->bind) kernel->bind(pointers);
    }
    void run() const {
        const OnThreads on(kernel->threads);
        kernel->run(pointers);
    }
};

}  // namespace viridian::execute::cpu
