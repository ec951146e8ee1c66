#pragma once
// The memory that a kernel reads and writes beside its weights, and how it is left to a kernel that is timed.
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

struct Ports {
    std::vector<std::int64_t> inputs, outputs;  // bytes
    std::vector<bool> numbers;                  // which inputs are floating; others hold zeroes (indices)
    std::optional<std::size_t> overwritten;     // the input that output 0 takes the place of

    [[nodiscard]] static Ports of(const Task& task, const plan::Choice& choice);
    [[nodiscard]] static Ports of_conversion(const graph::Dims& dims, const plan::Format& from,
                                             const plan::Format& to);
    [[nodiscard]] static Ports of_step(const Context& context, const graph::Graph& graph,
                                       const plan::Plan& plan, const plan::Step& step);
    [[nodiscard]] std::size_t bytes() const;  // of all of them, side by side
};

// Where each of them lies, from `start` on.
struct Places {
    std::vector<std::byte*> inputs, outputs;
    std::byte* end;

    Places(const Ports& ports, std::byte* start);
};

// As much as a cache line's multiple.
[[nodiscard]] std::size_t whole_lines(std::int64_t bytes);

// Fills `data` as a chain leaves it: which thread wrote what a thread reads (and last used the memory it
// writes) is not known, so threads take turns page by page, and half of it lies in another core's cache.
// Small positive numbers in f32 and bf16 alike, or zeroes. Called by each of `threads` threads.
void touch(std::byte* data, std::int64_t bytes, bool numbers, int thread, int threads);

}  // namespace viridian::execute::cpu
