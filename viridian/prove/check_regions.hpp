#pragma once
// Compares each kernel of a plan, alone and on the inputs that it really gets, with the reference kernels.
// This finds the kernel to blame when a whole network's outputs differ, and proves big networks piece by
// piece (docs/method.md, 4).
#include "viridian/execute/device.hpp"

namespace viridian::prove {

// A RegionCheck is the comparison of one kernel.
struct RegionCheck {
    std::string node;  // the last node of the region with the largest error
    std::string kernel;
    // Error of the worst output: update_error() of a new parameter, moment or accumulator if the region
    // reads the old one, relative L2 otherwise; infinite if NaN patterns differ.
    double error = 0;
    bool rounds = false;    // a port is stored in bf16
    std::string signature;  // plan::signature of the region
    std::string choice;     // plan::Choice::key()
};

// Returns one check per distinct pair of signature and choice, in the order of steps: the worst over its
// steps, which have weights of their own, and over the sets in `inputs`. Runs the graph on the reference
// kernels once for each set. Errors: those of preparing and running.
[[nodiscard]] Result<std::vector<RegionCheck>> check_regions(
    execute::Device& device, const graph::Graph& graph, const plan::Plan& plan,
    std::span<const std::vector<graph::Tensor>> inputs);

// Returns a plan that computes `alone`, a graph of one region (`extract`), by `choice`, with row-major inputs
// and outputs. If the choice overwrites an input, `alone` gets a copy of that input.
[[nodiscard]] Result<plan::Plan> plan_alone(graph::Graph& alone, const plan::Choice& choice);

// Returns a graph of the region alone. The region's inputs are the graph's inputs.
[[nodiscard]] graph::Graph extract(const graph::Graph& graph, const plan::Region& region);

}  // namespace viridian::prove
