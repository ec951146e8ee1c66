#include "viridian/movement/stacks.hpp"

#include <map>

#include "viridian/graph/operators/row.hpp"
#include "viridian/graph/operators/same_operator.hpp"
#include "viridian/graph/types_of.hpp"
#include "viridian/movement/views.hpp"

namespace viridian::movement {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

bool is_contraction(const Node& node) {
    const graph::OperatorRow* row = graph::find_operator(node);
    return row != nullptr && row->operator_class == graph::OperatorClass::contraction &&
           node.inputs.size() >= 2;
}

bool same_types(const Graph& graph, const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
    return graph::types_of(graph, a) == graph::types_of(graph, b);
}

// Whether equal views lead from one value to both.
bool same_tensor(const Graph& graph, ValueId a, ValueId b) {
    while (a != b) {
        const Node* x = graph.producer(a);
        const Node* y = graph.producer(b);
        if (x == nullptr || y == nullptr || !is_view(*x) || !same_settings(graph, *x, *y)) return false;
        a = x->inputs[0];
        b = y->inputs[0];
    }
    return true;
}

bool may_stack(const Graph& graph, const Node& a, const Node& b, std::size_t shared) {
    return graph::same_operator(a, b) && a.phase == b.phase && a.inputs.size() == b.inputs.size() &&
           same_types(graph, a.inputs, b.inputs) && same_types(graph, a.outputs, b.outputs) &&
           same_tensor(graph, a.inputs[shared], b.inputs[shared]) &&
           a.inputs[1 - shared] != b.inputs[1 - shared];
}

}  // namespace

Stacks::Stacks(const Graph& graph) {
    for (std::size_t i = 0; i < graph.value_count(); ++i) parent_.push_back(static_cast<ValueId>(i));
    std::map<std::pair<ValueId, std::size_t>, std::vector<NodeId>> readers;  // by tensor and operand
    for (const NodeId id : graph.nodes()) {
        const Node& node = graph.node(id);
        if (!is_contraction(node)) continue;
        for (const std::size_t shared : {0U, 1U})
            readers[{behind_views(graph, node.inputs[shared]), shared}].push_back(id);
    }
    for (const auto& [tensor, ids] : readers)
        for (std::size_t i = 0; i < ids.size(); ++i)
            for (std::size_t j = i + 1; j < ids.size(); ++j)
                if (may_stack(graph, graph.node(ids[i]), graph.node(ids[j]), tensor.second)) {
                    stack(graph, graph.node(ids[i]), graph.node(ids[j]), tensor.second);
                    break;  // the next one stacks with its own next one
                }
}

void Stacks::stack(const Graph& graph, const Node& a, const Node& b, std::size_t shared) {
    join(a.outputs[0], b.outputs[0]);
    ValueId x = a.inputs[1 - shared], y = b.inputs[1 - shared];
    while (true) {
        join(x, y);
        const Node* from = graph.producer(x);
        const Node* to = graph.producer(y);
        if (from == nullptr || to == nullptr || !is_view(*from) || !same_settings(graph, *from, *to)) return;
        x = from->inputs[0];
        y = to->inputs[0];
    }
}

void Stacks::join(ValueId a, ValueId b) {
    const ValueId x = tensor_of(a), y = tensor_of(b);
    parent_[index(std::max(x, y))] = std::min(x, y);
}

ValueId Stacks::tensor_of(ValueId value) const {
    while (parent_[index(value)] != value) value = parent_[index(value)];
    return value;
}

}  // namespace viridian::movement
