#include "viridian/gradient/evaluation.hpp"

#include <algorithm>

#include "viridian/graph/infer.hpp"

namespace viridian::gradient {
namespace {

// Sets nodes that behave differently in training to inference.
void infer_only(Graph& graph) {
    for (const NodeId id : graph.nodes()) {
        Node node = graph.node(id);
        if (node.op == op::BatchNormalization && node.integer("training_mode", 0) != 0) {
            node.attributes.erase("training_mode");
            node.outputs.resize(1);
            graph.set_node(id, std::move(node));
        } else if (node.op == op::Dropout && node.input(2) != ValueId::none) {
            node.inputs.resize(2);
            graph.set_node(id, std::move(node));
        }
    }
}

std::map<std::string, ValueId, std::less<>> constants_of(const Graph& graph) {
    std::map<std::string, ValueId, std::less<>> constants;
    for (std::size_t i = 0; i < graph.value_count(); ++i) {
        const auto id = static_cast<ValueId>(i);
        if (graph.constant(id) != nullptr) constants[graph.value(id).name] = id;
    }
    return constants;
}

Result<ValueId> find(const std::map<std::string, ValueId, std::less<>>& constants, const std::string& name) {
    const auto found = constants.find(name);
    if (found == constants.end())
        return fail(ErrorCode::missing_entry, "give the network that was trained",
                    "the network has no parameter `{}`", name);
    return found->second;
}

}  // namespace

Result<Evaluation> evaluation_of(const Graph& forward, const Step& step, const LossOptions& loss) {
    Evaluation made{.graph = forward, .judged = {}, .terms = {}};
    Graph& graph = made.graph;
    infer_only(graph);
    LossOptions terms = loss;
    terms.terms = true;
    VIRIDIAN_TRY(const Loss added, add_loss(graph, terms));
    std::vector<ValueId> outputs = graph.outputs();
    const auto output = [&](ValueId id) {
        if (std::ranges::find(outputs, id) == outputs.end()) outputs.push_back(id);
        return graph.value(id).name;
    };
    made.judged = output(added.of);
    if (added.labels != ValueId::none) made.terms = output(added.value);
    graph.set_outputs(std::move(outputs));
    const auto constants = constants_of(graph);
    const auto keep = [&](const std::string& name, graph::StateRole role) -> Result<void> {
        VIRIDIAN_TRY(const ValueId id, find(constants, name));
        graph.make_state(id, role);
        graph.set_after(id, id);
        return {};
    };
    for (const Trained& parameter : step.parameters)
        VIRIDIAN_TRY(keep(parameter.name, graph::StateRole::parameter));
    for (const std::string& name : step.statistics) VIRIDIAN_TRY(keep(name, graph::StateRole::statistic));
    graph::remove_dead_nodes(graph);  // what only the mean over the terms would read
    VIRIDIAN_TRY(infer_types(graph));
    return made;
}

Result<void> set_weights(Graph& graph, const std::map<std::string, Tensor>& weights) {
    const auto constants = constants_of(graph);
    for (const auto& [name, tensor] : weights) {
        VIRIDIAN_TRY(const ValueId id, find(constants, name));
        if (graph.value(id).type != tensor.tensor_type())
            return fail(ErrorCode::mismatch, "give weights of this network",
                        "parameter `{}` is {}, its new value is {}", name, text(graph.value(id).type),
                        text(tensor.tensor_type()));
        graph.make_constant(id, tensor);
    }
    return {};
}

Result<Graph> with_weights(const Graph& forward, const std::map<std::string, Tensor>& weights) {
    Graph graph = forward;
    infer_only(graph);
    VIRIDIAN_TRY(set_weights(graph, weights));
    VIRIDIAN_TRY(infer_types(graph));
    return graph;
}

}  // namespace viridian::gradient
