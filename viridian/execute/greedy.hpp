#pragma once
// Runs a graph without choosing: for every node one of the kernels its device offers. For conformance tests
// and smoke runs; real plans come from `search`.
#include "viridian/execute/device.hpp"

namespace viridian::execute {

// Which of a region's choices to take: an index into the list, by default the first.
using Pick = std::function<std::size_t(const plan::Region&, const std::vector<plan::Choice>&)>;

// An assignment of single-node regions, or of `regions` where given, with the conversions that their formats
// need.
[[nodiscard]] Result<plan::Assignment> assign(Device& device, const graph::Graph& graph,
                                              std::vector<plan::Region> regions, const Pick& pick);
[[nodiscard]] std::vector<plan::Region> single_node_regions(const graph::Graph& graph);

struct GreedyRun {
    std::vector<graph::Tensor> outputs;
    std::vector<std::pair<std::string, std::string>> kernels;  // operator, kernel
};

// Errors: those of the device; unsupported where a node has no kernel at all.
[[nodiscard]] Result<GreedyRun> run_greedily(Device& device, const graph::Graph& graph,
                                             const std::vector<graph::Tensor>& inputs, const Pick& pick = {});

}  // namespace viridian::execute
