#pragma once
// A region: one node, or several that one kernel can do together. Regions are found in the graph's structure
// alone; which of them some kernel really does is the device's answer (`choices`, empty for none).
#include <string>

#include "viridian/graph/graph.hpp"

namespace viridian::plan {

struct Region {
    std::vector<graph::NodeId> nodes;  // in execution order
    std::vector<graph::ValueId>
        inputs;  // distinct values read from outside, constants apart, in order of first use
    std::vector<graph::ValueId> constants;  // distinct constants read, in order of first use
    std::vector<graph::ValueId> outputs;    // values that others (or the graph's outputs) read
    // inputs[i] is read by nobody after this region: its buffer may be overwritten.
    std::vector<bool> dies;
    bool operator==(const Region&) const = default;
};

// The region of these nodes, in this order.
[[nodiscard]] Region make_region(const graph::Graph& graph, const graph::Uses& uses,
                                 std::vector<graph::NodeId> nodes);

// Every candidate: each node alone; and chains in which each node is the only reader of the one before, of at
// most `longest` nodes of which at most one is not element-wise (its prologue only where that one is a
// normalisation). A link of a chain may be a gate, x·f(x), whose nodes alone read x. Smaller regions first;
// single nodes in topological order.
[[nodiscard]] Result<std::vector<Region>> candidate_regions(const graph::Graph& graph,
                                                            std::size_t longest = 8);

// What the region computes, independent of the graph it is in: operators, attributes, types, how its nodes
// are wired, values of constants only where they are small and matter (scalars). Equal signatures may share
// costs.
[[nodiscard]] std::string signature(const graph::Graph& graph, const Region& region);

}  // namespace viridian::plan
