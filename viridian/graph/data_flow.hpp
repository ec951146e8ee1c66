#pragma once
// What a graph computes and moves, node by node, from types alone: the data-flow analysis of SUBSTATION
// (section III, table I). Nothing is measured here.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

struct NodeFlow {
    NodeId node = NodeId::none;
    OperatorClass operator_class = OperatorClass::elementwise;
    bool counted = false;  // every type is known, and how often bodies run is too
    Flop flop;             // multiply and add count two
    Bytes read;            // every input once, constants included
    Bytes written;

    // Flop per byte moved; 0 where nothing is.
    [[nodiscard]] double intensity() const;
};

struct DataFlow {
    std::vector<NodeFlow> nodes;  // in topological order
    std::int64_t parameters = 0;  // elements of constants but indices (i64) and masks, shared ones once
    Bytes constants;              // bytes of all constants, shared ones once
    // Most bytes of inputs and intermediates alive at once, each in a place of its own; nothing where a type
    // is not known.
    std::optional<Bytes> peak_activations;
};

// Errors: malformed (a cycle), limit_exceeded (a tensor beyond 16 TiB, more than 2^63 flop).
[[nodiscard]] Result<DataFlow> data_flow(const Graph& graph);

[[nodiscard]] std::string_view name_of(OperatorClass operator_class);

}  // namespace viridian::graph
