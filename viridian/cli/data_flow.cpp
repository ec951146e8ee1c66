#include "viridian/cli/data_flow.hpp"

#include <map>
#include <set>

#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {
namespace {

std::string name_of(const graph::Node& node) {
    if (!node.name.empty()) return node.name;
    return node.origin.empty() ? std::string() : node.origin.front();
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> step_flows(const graph::Graph& graph,
                                                            const plan::Plan& plan) {
    std::map<plan::BufferId, std::size_t> writer_of_buffer;
    std::map<graph::ValueId, std::size_t> writer_of_value;
    std::set<std::pair<std::size_t, std::size_t>> flows;
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        const plan::Step& step = plan.steps[s];
        for (const plan::BufferId input : step.inputs) {
            if (const auto found = writer_of_buffer.find(input); found != writer_of_buffer.end()) {
                flows.emplace(found->second, s);
                continue;
            }
            // A view, or values put together in place: no step of its own. Who made what it is made of?
            std::vector<graph::ValueId> open = {plan.buffers[input].value};
            std::set<graph::ValueId> seen;
            while (!open.empty()) {
                const graph::ValueId value = open.back();
                open.pop_back();
                if (value == graph::ValueId::none || !seen.insert(value).second) continue;
                if (const auto found = writer_of_value.find(value); found != writer_of_value.end())
                    flows.emplace(found->second, s);
                else if (const graph::Node* made = graph.producer(value))
                    open.insert(open.end(), made->inputs.begin(), made->inputs.end());
            }
        }
        for (const plan::BufferId output : step.outputs) {
            writer_of_buffer[output] = s;
            if (step.kind == plan::Step::Kind::kernel) writer_of_value[plan.buffers[output].value] = s;
        }
    }
    return {flows.begin(), flows.end()};
}

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
