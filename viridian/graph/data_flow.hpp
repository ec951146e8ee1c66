#pragma once
// data_flow() counts what each node of a graph computes and moves. It follows the data-flow analysis of
// SUBSTATION (section III, table I) and needs types alone: nothing is measured.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// A NodeFlow holds the flop and bytes of one node.
struct NodeFlow {
    NodeId node = NodeId::none;
    OperatorClass operator_class = OperatorClass::elementwise;
    bool counted = false;  // false if a type, or how often a body runs, is unknown
    Flop flop;             // a multiplication and an addition count as two
    Bytes read;            // every input once, constants included
    Bytes written;

    // Returns flop per byte read or written, and 0 if the node moves no byte.
    [[nodiscard]] double intensity() const;
};

// A DataFlow holds the counts of a whole graph.
struct DataFlow {
    std::vector<NodeFlow> nodes;  // in topological order
    std::int64_t parameters =
        0;            // elements of constants except i64 and boolean ones; shared tensors count once.
                      // With states: elements of the states that are parameters, and no constants
    Bytes constants;  // bytes of all constants; shared tensors count once
    Bytes states;     // bytes of all states of known shape
    // `peak_activations` is the largest number of bytes of inputs and intermediates that are alive at the
    // same time, if none of them share memory. It is absent if a type is unknown.
    std::optional<Bytes> peak_activations;
};

// Counts the nodes of `graph`. Errors: malformed (a cycle), limit_exceeded (a tensor beyond 16 TiB, or more
// than 2^63 flop).
[[nodiscard]] Result<DataFlow> data_flow(const Graph& graph);

// A MemoryNeed is the memory that a run of a graph needs if no values share memory.
struct MemoryNeed {
    Bytes constants;  // shared tensors count once
    Bytes values;     // inputs, outputs and intermediates that are alive at the same time
    [[nodiscard]] Bytes total() const { return constants + values; }
};

// Adds up what a run of `graph` needs. Values whose shape is not known count as nothing. Errors: malformed (a
// cycle), limit_exceeded (a tensor beyond 16 TiB).
[[nodiscard]] Result<MemoryNeed> memory_need(const Graph& graph);

// Returns the word that tables print for a class.
[[nodiscard]] std::string_view name_of(OperatorClass operator_class);

}  // namespace viridian::graph
