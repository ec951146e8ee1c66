#pragma once
// Each kernel of a plan on its own, on the inputs it really gets, against the reference kernels: finds the
// one to blame when a whole network's outputs differ, and proves big networks piece by piece (docs/method.md,
// 4).
#include "viridian/execute/device.hpp"

namespace viridian::execute {

struct RegionCheck {
    std::string node;  // the last of the region, where the error is largest
    std::string kernel;
    double error = 0;       // relative L2 of the worst output; infinite where NaN patterns differ
    bool rounds = false;    // a port is stored in bf16
    std::string signature;  // plan::signature of the region
    std::string choice;     // plan::Choice::key()
};

// One check per distinct (signature, choice), in step order: the worst over its steps, which have weights of
// their own, and over the sets of inputs. Runs the graph on the reference kernels once a set.
[[nodiscard]] Result<std::vector<RegionCheck>> check_regions(
    Device& device, const graph::Graph& graph, const plan::Plan& plan,
    std::span<const std::vector<graph::Tensor>> inputs);

// A plan of one region by this choice, over a graph of it alone (`extract`), which gets a copy of an input
// that the choice overwrites; inputs and outputs row-major.
[[nodiscard]] Result<plan::Plan> plan_alone(graph::Graph& alone, const plan::Choice& choice);

// A graph of the region alone, its inputs as graph inputs.
[[nodiscard]] graph::Graph extract(const graph::Graph& graph, const plan::Region& region);

}  // namespace viridian::execute
