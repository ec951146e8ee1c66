#pragma once
// Adds the updates of parameters to a graph: clipping, the optimiser's node of each parameter, and its
// moments.
#include "viridian/gradient/step.hpp"

namespace viridian::gradient {

// An UpdateSite is one parameter that is updated. Its gradient is `none` if the loss does not depend on it.
struct UpdateSite {
    graph::ValueId parameter = graph::ValueId::none;  // a state
    StackedState state;                               // its name; parts only if it is stacked
    graph::ValueId gradient = graph::ValueId::none;
    // The forward node that reads the parameter first: the layer to which traces count its update.
    std::optional<graph::Node> reader = {};

    // The names of the parameters that the state holds.
    [[nodiscard]] std::vector<std::string> names() const;
};

struct Updates {
    std::vector<Trained> parameters;
    std::vector<StackedState> stacked;  // moments
    std::vector<graph::ValueId>
        outputs;  // the norm of the gradients, and the gradients, if they are asked for
};

// Returns the state of `graph` that counts steps, and adds it if there is none.
[[nodiscard]] graph::ValueId step_count(graph::Graph& graph);

// Adds the updates that `options` ask for to `graph`, and what they need: the input `viridian.rate`, the
// count of steps, and the moments as states. Throws Refusal if a shape rule refuses a gradient.
[[nodiscard]] Updates add_updates(graph::Graph& graph, const StepOptions& options,
                                  const std::vector<UpdateSite>& sites);

}  // namespace viridian::gradient
