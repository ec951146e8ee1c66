#include "viridian/movement/views.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "viridian/graph/operators/same_operator.hpp"

namespace viridian::movement {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Node;
using graph::Tensor;
using graph::ValueId;
namespace op = graph::op;

// The axis of the output that each axis of the input becomes, -1 for a dropped axis; none if axes are split
// or joined.
std::optional<std::vector<int>> kept_axes(const Node& node, const Dims& from, const Dims& to) {
    std::vector<int> axes(from.size(), -1);
    if (node.op == op::Transpose) {
        Dims order = node.get("perm", Dims());
        if (order.empty()) {
            order.resize(from.size());
            std::iota(order.rbegin(), order.rend(), 0);
        }
        for (std::size_t i = 0; i < order.size(); ++i)
            axes[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
        return axes;
    }
    if (from == to) {
        std::iota(axes.begin(), axes.end(), 0);
        return axes;
    }
    std::size_t next = 0;  // extents of 1 aside, both shapes must list the same extents in order
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
        if (from[axis] == 1) continue;
        while (next < to.size() && to[next] == 1) ++next;
        if (next == to.size() || to[next] != from[axis]) return std::nullopt;
        axes[axis] = static_cast<int>(next++);
    }
    while (next < to.size() && to[next] == 1) ++next;
    return next == to.size() ? std::optional(axes) : std::nullopt;
}

bool same_constant(const Tensor* a, const Tensor* b) {
    return a != nullptr && b != nullptr && a->same_bytes(*b);
}

}  // namespace

bool is_view(const Node& node) {
    return node.op == op::Reshape || node.op == op::Transpose || node.op == op::Identity ||
           node.op == op::Squeeze || node.op == op::Unsqueeze || node.op == op::Flatten;
}

ValueId behind_views(const Graph& graph, ValueId value) {
    for (const Node* node = graph.producer(value); node != nullptr && is_view(*node);
         node = graph.producer(value))
        value = node->inputs[0];
    return value;
}

std::vector<Seen> see_through(const Graph& graph, ValueId value) {
    std::vector<Seen> seen = {{value, std::vector<int>(graph.value(value).type.dims().size())}};
    std::iota(seen[0].axes.begin(), seen[0].axes.end(), 0);
    for (const Node* node = graph.producer(value); node != nullptr && is_view(*node);
         node = graph.producer(seen.back().behind)) {
        const graph::TensorType& from = graph.value(node->inputs[0]).type;
        if (!from.known()) break;
        const auto kept = kept_axes(*node, from.dims(), graph.value(seen.back().behind).type.dims());
        if (!kept) break;
        std::vector<int> axes;
        for (const int axis : *kept)
            axes.push_back(axis < 0 ? -1 : seen.back().axes[static_cast<std::size_t>(axis)]);
        seen.push_back({node->inputs[0], std::move(axes)});
    }
    return seen;
}

bool same_settings(const Graph& graph, const Node& a, const Node& b) {
    if (!graph::same_operator(a, b) || a.inputs.size() != b.inputs.size()) return false;
    for (std::size_t i = 1; i < a.inputs.size(); ++i)
        if (a.inputs[i] != b.inputs[i] &&
            !same_constant(graph.constant(a.inputs[i]), graph.constant(b.inputs[i])))
            return false;
    return true;
}

}  // namespace viridian::movement
