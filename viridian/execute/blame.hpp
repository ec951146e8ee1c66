#pragma once
// Where a mixed plan's error comes from: what each region that rounds to bf16 does to the network's outputs
// when it is the only one that rounds. Every other region runs in f32, so the answer includes what later
// layers make of the error (a cancellation behind a convolution blames the convolution).
#include "viridian/execute/device.hpp"

namespace viridian::execute {

struct Blame {
    std::vector<graph::NodeId> nodes;  // the region's
    std::string node;                  // the last of them
    std::string tensor;                // what it writes
    std::string kernel;
    bool filtered = false;  // by minimal filtering in bf16, which amplifies its roundings: others do not
    // The largest over all sets of inputs.
    double local = 0;  // relative L2 of what it writes, its inputs exact
    double error = 0;  // relative L2 of the network's worst output; infinite where NaN patterns differ
};

// Products in bf16 of transformed sources and weights.
[[nodiscard]] bool filters_in_bf16(std::string_view kernel);

// One entry per region with a bf16 port, worst first (then in execution order). `sets` of the graph's inputs.
[[nodiscard]] Result<std::vector<Blame>> blame_rounding(Device& device, const graph::Graph& graph,
                                                        const plan::Plan& plan,
                                                        const std::vector<std::vector<graph::Tensor>>& sets);

}  // namespace viridian::execute
