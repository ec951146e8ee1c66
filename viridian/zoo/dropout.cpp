#include "viridian/zoo/dropout.hpp"

namespace viridian::zoo {

graph::ValueId add_dropout(graph::Graph& graph, const Options& options, graph::ValueId x,
                           const std::string& name, double published) {
    const double rate = options.dropout.value_or(published);
    if (!options.training || rate == 0) return x;
    graph::Tensor on(graph::ElementType::boolean, {});
    on.mutable_values<bool>()[0] = true;
    const graph::ValueId ratio =
        graph.add_constant(name + ".ratio", graph::Tensor::scalar(static_cast<float>(rate)));
    const graph::ValueId training = graph.add_constant(name + ".training_mode", std::move(on));
    return graph.add(graph::op::Dropout, {x, ratio, training}, {}, name);
}

}  // namespace viridian::zoo
