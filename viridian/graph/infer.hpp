#pragma once
// Derives the types and shapes of all values of a graph from those of its inputs, by the shape rules in the
// rows of operators.
#include <optional>

#include "viridian/graph/graph.hpp"

namespace viridian::graph {

// Sets the type of every intermediate value of `graph` and of the bodies of its nodes. An operator that has
// one body and no shape rule gets the types of the body's outputs; without a body its outputs keep their
// types. Errors, with the node's name: mismatch, malformed, limit_exceeded (more than 2^40 elements).
[[nodiscard]] Result<void> infer_types(Graph& graph);

// Sets the types of the outputs of node `id`, whose inputs are already typed. Builders call this after
// every node. Errors: those of infer_types.
[[nodiscard]] Result<void> infer_node_types(Graph& graph, NodeId id);

// Replaces the symbolic dimension `symbol` of the inputs by `value` and infers all types again. Errors:
// missing_entry if no input has the symbol, limit_exceeded if an input would have more than 2^40 elements,
// and those of infer_types.
[[nodiscard]] Result<void> bind_dimension(Graph& graph, const std::string& symbol, std::int64_t value);

// Returns the error that asks for every free dimension of the inputs at once: it lists the inputs that have
// one and gives the options to copy, `--dim N=1` for each symbol, in the order of the inputs. Returns
// nothing if all inputs have known shapes. Error codes: missing_entry; unsupported if an input has a
// dimension without a name, or no shape at all, because then no option can bind it.
[[nodiscard]] std::optional<Error> free_dimensions_error(const Graph& graph);

}  // namespace viridian::graph
