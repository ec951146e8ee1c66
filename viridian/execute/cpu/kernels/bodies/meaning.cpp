#include "viridian/execute/cpu/kernels/bodies/meaning.hpp"

#include <algorithm>

#include "viridian/graph/operators/row.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

bool means_its_body(const Node& node) {
    const auto* row = graph::find_operator(node);
    return node.bodies.size() == 1 && (row == nullptr || row->reference.f32 == nullptr);
}

class SpelledOut {
  public:
    // Adds the nodes of `body`, whose inputs are `arguments`, and sets `results` to its outputs. Returns
    // false if a type is not known.
    bool add(const Graph& body, const std::vector<ValueId>& arguments, std::vector<ValueId>& results) {
        const auto order = topological_order(body);
        if (!order.ok() || !body.states().empty() || body.inputs().size() != arguments.size()) return false;
        std::vector<ValueId> made(body.value_count(), ValueId::none);
        for (std::size_t i = 0; i < arguments.size(); ++i) made[index(body.inputs()[i])] = arguments[i];
        const auto find = [&](ValueId id) {
            if (id == ValueId::none) return id;
            ValueId& found = made[index(id)];
            if (found == ValueId::none)
                if (const graph::Tensor* constant = body.constant(id))
                    found = out.add_constant(body.value(id).name, *constant);
            return found;
        };
        for (const NodeId id : *order) {
            Node node = body.node(id);
            const std::vector<ValueId> outputs = node.outputs;
            for (ValueId& input : node.inputs) input = find(input);
            if (means_its_body(node)) {
                std::vector<ValueId> inner;
                if (!add(*node.bodies[0], node.inputs, inner) || inner.size() < outputs.size()) return false;
                for (std::size_t i = 0; i < outputs.size(); ++i)
                    if (outputs[i] != ValueId::none) made[index(outputs[i])] = inner[i];
                continue;
            }
            std::vector<std::string> names;
            for (const ValueId output : outputs)
                names.push_back(output == ValueId::none ? "" : body.value(output).name);
            const NodeId added = out.add_node(std::move(node), names);
            for (std::size_t i = 0; i < outputs.size(); ++i) {
                if (outputs[i] == ValueId::none) continue;
                if (!body.value(outputs[i]).type.known()) return false;
                const ValueId copy = out.node(added).outputs[i];
                out.set_type(copy, body.value(outputs[i]).type);
                made[index(outputs[i])] = copy;
            }
        }
        for (const ValueId output : body.outputs()) results.push_back(find(output));
        return true;
    }

    // A value of its own for an output that is an input, a constant, or an earlier output.
    ValueId copied(ValueId id) {
        const graph::TensorType type = out.value(id).type;
        const ValueId copy = out.add(graph::op::Identity, {id});
        out.set_type(copy, type);
        return copy;
    }

    Graph out;
};

}  // namespace

std::optional<Graph> meaning_of(const Task& task) {
    if (task.region.nodes.size() != 1 || !means_its_body(task.node())) return std::nullopt;
    const Node& node = task.node();
    SpelledOut spelled;
    std::vector<ValueId> inputs;
    for (const ValueId id : task.region.inputs) {
        if (!task.type(id).known()) return std::nullopt;
        inputs.push_back(spelled.out.add_input(task.graph.value(id).name, task.type(id)));
    }
    std::vector<ValueId> arguments, results;
    for (const ValueId id : node.inputs) {
        if (id == ValueId::none) return std::nullopt;
        if (const auto input = task.input_index(id))
            arguments.push_back(inputs[*input]);
        else
            arguments.push_back(
                spelled.out.add_constant(task.graph.value(id).name, *task.graph.constant(id)));
    }
    if (!spelled.add(*node.bodies[0], arguments, results)) return std::nullopt;
    std::vector<ValueId> outputs;
    for (const ValueId id : task.region.outputs) {
        const auto at = static_cast<std::size_t>(std::ranges::find(node.outputs, id) - node.outputs.begin());
        if (at >= results.size() || results[at] == ValueId::none) return std::nullopt;
        ValueId result = results[at];
        if (spelled.out.producer(result) == nullptr || std::ranges::count(outputs, result) > 0)
            result = spelled.copied(result);
        if (spelled.out.value(result).type != task.type(id)) return std::nullopt;
        outputs.push_back(result);
    }
    spelled.out.set_outputs(std::move(outputs));
    remove_dead_nodes(spelled.out);
    return std::move(spelled.out);
}

}  // namespace viridian::execute::cpu
