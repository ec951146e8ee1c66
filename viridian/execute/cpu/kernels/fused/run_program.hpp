#pragma once
// Runs a program (program.hpp) on the threads of a device.
#include "viridian/execute/cpu/kernels/fused/program.hpp"

namespace viridian::execute::cpu {

// A Traffic says which whole inputs are read ahead, and how whole outputs are stored whose pieces are made in
// scratch first.
struct Traffic {
    std::vector<std::pair<std::size_t, std::int64_t>> read = {};  // inputs, and bytes of an element
    bool streams = false;                                         // past the caches
    std::vector<bool> narrow = {};                                // in bf16, for each output
};

// Returns the scratch that run_program() needs on `threads` threads.
[[nodiscard]] Bytes program_workspace(const Program& program, int threads);

// Computes the outputs that `pointers` names from its inputs, on at most `threads` threads.
void run_program(const Program& program, const Traffic& traffic, int threads, const Pointers& pointers);

}  // namespace viridian::execute::cpu
