#pragma once
// RunState holds the memory of one run of an executable. Runs that overlap take a state each; kernels and
// packed weights are shared by all.
#include <algorithm>

#include "viridian/execute/cpu/bound_step.hpp"
#include "viridian/execute/cpu/lease_list.hpp"
#include "viridian/execute/cpu/state_store.hpp"

namespace viridian::execute::cpu {

// A Place is an offset in bytes into the arena of a run or into the memory of the states. Each run brings the
// addresses `outside` along.
struct Place {
    enum class In : std::uint8_t { arena, states, outside } in = In::arena;
    std::int64_t offset = 0;
};

// A StepLayout says where a step of every run state finds its inputs and outputs.
struct StepLayout {
    std::shared_ptr<const Kernel> kernel;
    std::vector<Place> inputs, outputs;
    // Returns whether any address changes from run to run.
    [[nodiscard]] bool moves() const {
        const auto outside = [](const Place& place) { return place.in == Place::In::outside; };
        return std::ranges::any_of(inputs, outside) || std::ranges::any_of(outputs, outside);
    }
};

struct RunState {
    // Allocates the memory, and binds the steps that have no outside address. `states` keeps the states,
    // which all runs share. Throws bad_alloc.
    RunState(const std::vector<StepLayout>& layouts, std::size_t arena_bytes, std::size_t workspace_bytes,
             const StateStore& states);

    Buffer arena, workspace;
    std::vector<BoundStep> steps;
};

// Every run takes one that no other run uses; another one is made if all are in use.
using RunStates = LeaseList<RunState>;

}  // namespace viridian::execute::cpu
