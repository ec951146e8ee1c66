#include "viridian/cli/account/model_flows.hpp"

#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {
namespace {

std::string name_of(const graph::Node& node) {
    if (!node.name.empty()) return node.name;
    return node.origin.empty() ? std::string() : node.origin.front();
}

}  // namespace

Result<std::vector<account::Flow>> model_flows(const Path& model) {
    VIRIDIAN_TRY(const graph::Graph graph, onnx::load(model));
    std::vector<account::Flow> flows;
    for (const graph::NodeId id : graph.nodes()) {
        const graph::Node& node = graph.node(id);
        for (const graph::ValueId input : node.inputs) {
            if (input == graph::ValueId::none) continue;
            if (const graph::Node* made = graph.producer(input))
                flows.push_back({name_of(*made), name_of(node), 1});
        }
    }
    return flows;
}

}  // namespace viridian::cli
