#pragma once
// Says how the states of a graph live in a plan. The memory of a state persists between runs. At best the
// kernel that computes the new value writes it there; otherwise a copy goes there at the end of the run.
// Regions therefore run in an order in which the old value is read before it is overwritten.
#include "viridian/plan/plan.hpp"

namespace viridian::plan {

// StateUpdates say which regions write new values of states in place, and what has to come before that.
struct StateUpdates {
    // Per state of the graph, the region whose kernel writes the new value into the memory of the state.
    std::vector<std::optional<std::size_t>> writers;
    // Pairs of regions of the assignment: the first reads a state, so it has to run before the second, which
    // writes it. These and the flow of data together have no cycle.
    std::vector<std::pair<std::size_t, std::size_t>> order;
};

// Returns whether every node of `region` is element-wise, or means a body of such nodes.
[[nodiscard]] bool is_elementwise(const graph::Graph& graph, const Region& region);

// Finds the states that can be updated in place under `assignment`. A region may write into the memory of a
// state if its kernel does not read that memory, if it is a reference kernel, which reads everything before
// it writes, or if the region is element-wise and reads the state in the format in which it writes (Choice
// says what such kernels promise). Every other reader of the old value must be able to run
// before; where none of two updates can come first, the later state gets a copy.
[[nodiscard]] StateUpdates state_updates(const graph::Graph& graph, const Assignment& assignment);

// Returns the order in which the regions of a plan run, as indices of `regions`. Every value is made before
// it is read, and the first region of each pair in `updates.order` runs before the second. If several regions
// can run next, the one with the smallest first node does. Errors: broken_invariant (a node is in no region
// or in two, a value is read outside the region that hides it, or regions depend on each other in a cycle).
[[nodiscard]] Result<std::vector<std::size_t>> execution_order(const graph::Graph& graph,
                                                               const std::vector<AssignedRegion>& regions,
                                                               const StateUpdates& updates = {});

// Checks that no step of `plan` reads a state after its memory was overwritten, or its new value before that
// was written, and that every state has its new value after the last step. Errors: mismatch, naming the state
// and the step.
[[nodiscard]] Result<void> check_states(const graph::Graph& graph, const Plan& plan);

}  // namespace viridian::plan
