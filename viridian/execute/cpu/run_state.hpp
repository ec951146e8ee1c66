#pragma once
// RunState holds the memory of one run of an executable. Runs that overlap take a state each; kernels and
// packed weights are shared by all.
#include <algorithm>

#include "viridian/execute/cpu/bound_step.hpp"
#include "viridian/execute/cpu/lease_list.hpp"

namespace viridian::execute::cpu {

// A StepLayout says where a step of every run state finds its inputs and outputs: as an offset in bytes
// into the arena, or as `outside` if each run brings the address along.
struct StepLayout {
    static constexpr std::int64_t outside = -1;
    std::shared_ptr<const Kernel> kernel;
    std::vector<std::int64_t> inputs, outputs;
    // Returns whether any address changes from run to run.
    [[nodiscard]] bool moves() const {
        return std::ranges::count(inputs, outside) + std::ranges::count(outputs, outside) > 0;
    }
};

struct RunState {
    // Allocates the memory, and binds the steps that have no outside address. Throws bad_alloc.
    RunState(const std::vector<StepLayout>& layouts, std::size_t arena_bytes, std::size_t workspace_bytes);

    Buffer arena, workspace;
    std::vector<BoundStep> steps;
};

// Every run takes one that no other run uses; another one is made if all are in use.
using RunStates = LeaseList<RunState>;

}  // namespace viridian::execute::cpu
