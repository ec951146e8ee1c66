#pragma once
// Stacks the weights of products that read the same value, such as those of queries, keys and values, so that
// one product replaces several: forward, in the gradient of what they read, and in the gradients of the
// weights (Ivanov et al., "Data Movement Is All You Need", MLSys 2021, section IV-D: algebraic fusion). The
// stack is one state, which the optimiser updates as it is, so that no step copies a weight.
#include <functional>
#include <optional>

#include "viridian/gradient/parameters/stacked_state.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::gradient {

// How many products of one value become one: none, the first two of each group and so on by pairs, or all.
enum class Stacking : std::uint8_t { separate, pairs, all };
[[nodiscard]] std::string_view name_of(Stacking stacking);
[[nodiscard]] std::optional<Stacking> parse_stacking(std::string_view name);

// A Stack is a parameter that took the place of several.
struct Stack {
    graph::ValueId value = graph::ValueId::none;
    std::vector<graph::ValueId> replaced;  // they are no states any more, and nothing reads them
    StackedState state;                    // its names are those of the parameters
};

// Stacks the weights of MatMul, and of Gemm without factors, and the biases that are added to the products,
// in `graph`, where trained parameters are states that nothing changes yet. Only parameters that one node
// reads are stacked, only products on which `loss_of` depends. A stack has a bias for each product or for
// none. `decay_of` says how strongly a state is drawn towards zero: parameters with different decays stay
// apart. Errors: those of shape rules.
[[nodiscard]] Result<std::vector<Stack>> stack_weights(
    graph::Graph& graph, Stacking stacking, graph::ValueId loss_of,
    const std::function<double(graph::ValueId state)>& decay_of);

}  // namespace viridian::gradient
