#include "viridian/movement/operators.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "viridian/movement/contraction_walk.hpp"

namespace viridian::movement {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Phase;
using graph::ValueId;

// Producers before readers; of the nodes that are ready, gradients of parameters first.
Result<std::vector<NodeId>> order_of(const Graph& graph) {
    VIRIDIAN_TRY(const std::vector<NodeId> plain, graph::topological_order(graph));
    const auto rank = [&](NodeId id) { return std::pair(graph.node(id).phase != Phase::weight, id); };
    const graph::Uses uses = graph::uses(graph);
    std::map<NodeId, std::size_t> missing;
    std::set<std::pair<bool, NodeId>> ready;
    for (const NodeId id : plain) {
        std::size_t& count = missing[id];
        for (const ValueId input : graph.node(id).inputs)
            if (graph.producer(input) != nullptr) ++count;
        if (count == 0) ready.insert(rank(id));
    }
    std::vector<NodeId> order;
    while (!ready.empty()) {
        const NodeId id = ready.begin()->second;
        ready.erase(ready.begin());
        order.push_back(id);
        for (const ValueId output : graph.node(id).outputs)
            if (output != ValueId::none)
                for (const NodeId reader : uses.readers(output))
                    if (--missing[reader] == 0) ready.insert(rank(reader));
    }
    return order;
}

// Whether a tensor of more than one element is read or computed; unknown ones count as such.
bool touches_tensor(const Graph& graph, const Node& node) {
    const auto large = [&](ValueId id) {
        if (id == ValueId::none) return false;
        const graph::TensorType& type = graph.value(id).type;
        return !type.known() || std::ranges::any_of(type.dims(), [](std::int64_t size) { return size != 1; });
    };
    return std::ranges::any_of(node.inputs, large) || std::ranges::any_of(node.outputs, large);
}

int pass_of(Phase phase) { return phase == Phase::forward ? 0 : phase == Phase::update ? 2 : 1; }

// The sum of several contributions to one gradient is an operator too: the gradient of a residual.
std::string owner_of(const Node& node) {
    if (node.op == graph::op::Sum && pass_of(node.phase) == 1) return node.name;
    std::string owner = std::to_string(static_cast<int>(node.phase)) + ":" + node.twin;
    for (const std::string& origin : node.origin) owner += ":" + origin;
    return node.twin.empty() && node.origin.empty() ? owner + node.name : owner;
}

std::vector<Operand> operands_of(const Graph& graph, const Node& node, const Walk& walk) {
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (walk.inputs[i].empty()) continue;
        for (const Seen& seen : see_through(graph, node.inputs[i])) {
            const graph::Dims dims = graph.value(seen.behind).type.dims();
            Operand operand{.input = i, .value = seen.behind, .loops = {}};
            std::set<int> run;
            for (std::size_t axis = 0; axis < dims.size(); ++axis) {
                const int front = seen.axes[axis];
                const int loop = front < 0 ? no_loop : walk.inputs[i][static_cast<std::size_t>(front)];
                operand.loops.push_back(loop);
                if (loop != no_loop && walk.loops[static_cast<std::size_t>(loop)].size == dims[axis])
                    run.insert(loop);
            }
            operand.whole = run.size() == walk.loops.size();
            operands.push_back(std::move(operand));
        }
    }
    return operands;
}

}  // namespace

Result<std::vector<OperatorNode>> operators_of(const Graph& graph, bool contractions) {
    VIRIDIAN_TRY(const std::vector<NodeId> order, order_of(graph));
    std::vector<OperatorNode> operators;
    std::map<NodeId, std::size_t> numbers;
    for (const NodeId id : order) {
        const Node& node = graph.node(id);
        if (is_view(node) || !touches_tensor(graph, node)) continue;
        OperatorNode made{.node = id,
                          .walk = walk_of(graph, node),
                          .operands = {},
                          .sources = {},
                          .readers = {},
                          .owner = owner_of(node),
                          .pass = pass_of(node.phase)};
        if (contractions && !made.walk) {
            made.walk = contraction_walk_of(graph, node);
            made.contracts = made.walk.has_value();
        }
        if (made.walk) made.operands = operands_of(graph, node, *made.walk);
        std::set<std::size_t> sources;
        for (const ValueId input : node.inputs) {
            if (input == ValueId::none) continue;
            const ValueId behind = behind_views(graph, input);
            const auto found = numbers.find(graph.value(behind).producer);
            if (graph.producer(behind) != nullptr && found != numbers.end()) sources.insert(found->second);
        }
        for (const std::size_t source : sources) operators[source].readers.push_back(operators.size());
        made.sources.assign(sources.begin(), sources.end());
        numbers[id] = operators.size();
        operators.push_back(std::move(made));
    }
    return operators;
}

}  // namespace viridian::movement
