#pragma once
// The operators of a graph as the finder of regions sees them: nodes that are no views, in the order in which
// they join regions, with what they read behind views.
#include "viridian/movement/views.hpp"
#include "viridian/movement/walk.hpp"

namespace viridian::movement {

// An Operand is an input that an operator walks, or what it sees of it through views. `loops[i]` is the loop
// along axis i of `value`, or no_loop.
struct Operand {
    std::size_t input = 0;
    graph::ValueId value = graph::ValueId::none;
    Access loops;
    bool whole = false;  // every loop of the operator runs along an axis of `value` of its own extent
};

struct OperatorNode {
    graph::NodeId node = graph::NodeId::none;
    std::optional<Walk> walk;
    std::vector<Operand> operands;     // of an operator with a walk
    std::vector<std::size_t> sources;  // operators whose results it reads, through any views; ascending
    std::vector<std::size_t> readers;
    std::string owner;       // the node of the user's model, and the phase
    int pass = 0;            // 0: forward, 1: gradients, 2: update
    bool contracts = false;  // it has the walk of a contraction
};

// Returns the operators of `graph` that read or compute more than one element, producers before readers.
// Among those that are ready, gradients of parameters come first, then the smallest node. Contractions have
// walks if `contractions` is set. Errors: malformed (a cycle).
[[nodiscard]] Result<std::vector<OperatorNode>> operators_of(const graph::Graph& graph, bool contractions);

}  // namespace viridian::movement
