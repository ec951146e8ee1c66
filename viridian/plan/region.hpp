#pragma once
// A Region is one node, or several nodes that one kernel may compute together. Regions are found from the
// structure of the graph alone; the device says which of them a kernel really computes.
#include <string>

#include "viridian/graph/graph.hpp"

namespace viridian::plan {

struct Region {
    std::vector<graph::NodeId> nodes;       // in execution order
    std::vector<graph::ValueId> inputs;     // distinct values read from outside, in order of first use
    std::vector<graph::ValueId> constants;  // distinct constants read, in order of first use
    std::vector<graph::ValueId> outputs;    // values that other nodes or the graph's outputs read
    // dies[i] is true if nothing reads inputs[i] after this region, so that its buffer may be overwritten.
    std::vector<bool> dies;
    bool operator==(const Region&) const = default;
};

// Returns the region of `nodes`, which are in execution order. `uses` are those of `graph`.
[[nodiscard]] Region make_region(const graph::Graph& graph, const graph::Uses& uses,
                                 std::vector<graph::NodeId> nodes);

// Returns every node as a region, in topological order, then chains of growing length, up to `longest` nodes.
// Each node is the only reader of the one before; statistics of a batch may have other readers. At most one
// node is not element-wise, and it follows others only if it is a normalisation. A link may be a gate x·f(x),
// if no other node reads x. Attention is a chain too: product, element-wise nodes, Softmax, those of a
// dropout, product. Errors: malformed (a cycle).
[[nodiscard]] Result<std::vector<Region>> chain_regions(const graph::Graph& graph, std::size_t longest = 8);

// Returns all candidates for regions: those of chain_regions(), and what movement::fuse() puts together by
// its rule `published`, such as a residual connection with the normalisation that reads it, or a gradient
// with its sum over all rows. Such regions may have several results. Any set of candidates that share no node
// can be chosen without making a cycle. A graph with BatchNormalizationTraining has only chains. Errors:
// malformed (a cycle).
[[nodiscard]] Result<std::vector<Region>> candidate_regions(const graph::Graph& graph);

// Returns a text that says what `region` computes, independent of the rest of `graph`: operators, attributes,
// types, how its nodes are connected, which results become states of the graph, and the values of scalar
// constants. Regions with equal signatures share their kernels and prices.
[[nodiscard]] std::string signature(const graph::Graph& graph, const Region& region);

// Returns how many floating-point operations the region's nodes take, as the operators define them, or the
// bodies of fused ones. Nodes of control flow and those whose shapes are not known count as none. A double,
// because sums are compared with times, not counted.
[[nodiscard]] double flop(const graph::Graph& graph, const Region& region);

}  // namespace viridian::plan
