#pragma once
// Ports describe the memory that a timed kernel reads and writes apart from its weights, and touch() fills
// it with suitable numbers.
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

struct Ports {
    std::vector<std::int64_t> inputs, outputs;  // bytes
    std::vector<bool> numbers;               // which inputs are floating-point; others hold zeroes (indices)
    std::optional<std::size_t> overwritten;  // the input that output 0 takes the place of

    // These return the ports of a choice, of a conversion, and of a step of a plan.
    [[nodiscard]] static Ports of(const Task& task, const plan::Choice& choice);
    [[nodiscard]] static Ports of_conversion(const graph::Dims& dims, const plan::Format& from,
                                             const plan::Format& to);
    [[nodiscard]] static Ports of_step(const Context& context, const graph::Graph& graph,
                                       const plan::Plan& plan, const plan::Step& step);
    [[nodiscard]] std::size_t bytes() const;  // of all ports, side by side
};

// PortAddresses are the addresses of ports that lie side by side from `start` on.
struct PortAddresses {
    std::vector<std::byte*> inputs, outputs;
    std::byte* end;

    PortAddresses(const Ports& ports, std::byte* start);
};

// Returns `bytes` rounded up to whole cache lines.
[[nodiscard]] std::size_t whole_lines(std::int64_t bytes);

// Fills `data` as the kernels before would leave it. It is not known which thread wrote what another reads,
// so the threads write the pages in turn, and half of them lie in another core's cache. With `numbers` it
// writes numbers that are small and positive in f32 and bf16 alike, otherwise zeroes. Each of `threads`
// threads calls it with its own `thread`.
void touch(std::byte* data, std::int64_t bytes, bool numbers, int thread, int threads);

}  // namespace viridian::execute::cpu
