#pragma once
// A plan's step on the processor: its kernel, made ready, and the memory that it is given.
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// A kernel for a choice of one of the families. Errors: unsupported.
[[nodiscard]] Result<Kernel> prepare_kernel(const Task& task, const plan::Choice& choice);

// The same for a step, be it a kernel's or a conversion.
[[nodiscard]] Result<Kernel> prepare_step(const Context& context, const graph::Graph& graph,
                                          const plan::Plan& plan, const plan::Step& step);

struct BoundStep {
    Kernel kernel;
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    std::vector<const std::byte*> constants;
    Pointers pointers;  // into these

    // Once inputs and outputs have their places.
    void point(std::byte* workspace);
    // Each time one of them has changed.
    void bind() const {
        if (kernel.bind) kernel.bind(pointers);
    }
    void run() const { kernel.run(pointers); }
};

}  // namespace viridian::execute::cpu
