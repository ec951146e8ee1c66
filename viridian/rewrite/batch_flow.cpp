#include "viridian/rewrite/batch_flow.hpp"

#include <algorithm>

#include "viridian/graph/operators/row.hpp"
#include "viridian/rewrite/movement.hpp"

namespace viridian::rewrite {
BatchFlow::BatchFlow(const Editor& editor, std::int64_t batch, std::int64_t parts)
    : editor_(editor), parts_(parts), holds_(editor.graph().value_count(), false) {
    for (const ValueId input : editor.graph().inputs())
        if (const auto dims = editor.dims(input); dims && !dims->empty() && dims->front() == batch)
            holds_[index(input)] = true;
}

bool BatchFlow::follow(NodeId id) {
    const Node& node = editor_.node(id);
    if (!node.op.domain().empty() || !node.bodies.empty() ||
        std::ranges::none_of(node.inputs, [&](ValueId input) { return holds(input); }) ||
        !treats_slices_alone(node))
        return false;
    for (const ValueId output : node.outputs) {
        if (output == ValueId::none) continue;
        const auto dims = editor_.dims(output);
        if (!dims || dims->empty() || dims->front() <= 0 || dims->front() % parts_ != 0) return false;
    }
    for (const ValueId output : node.outputs)
        if (output != ValueId::none) holds_[index(output)] = true;
    return true;
}

bool BatchFlow::treats_slices_alone(const Node& node) const {
    const graph::OperatorRow* row = find_operator(node);
    if (row == nullptr) return false;
    if (row->elements == graph::Elements::pointwise) return follows_pointwise(node);
    const bool only_first = holds(node.inputs[0]) && shares_inputs(node, 1);
    switch (row->samples) {
        case graph::Samples::apart:  // second outputs index the whole batch or belong to training
            return only_first && node.outputs.size() == 1 && node.integer("training_mode", 0) == 0;
        case graph::Samples::behind_axis:
            return only_first && broadcasts_parameters(node) && axis_behind(node, -1);
        case graph::Samples::behind_axes:
            return only_first && axes_behind(node, node.inputs[0]);
        case graph::Samples::behind_added:
            return only_first && axes_behind(node, node.outputs[0]);
        case graph::Samples::mixed:
            break;
    }
    if (node.op == op::MatMul) return follows_matmul(node);
    if (node.op == op::Gemm) return follows_gemm(node);
    if (node.op == op::Gather) return follows_gather(node);
    if (node.op == op::Concat)
        return std::ranges::all_of(node.inputs, [&](ValueId input) { return holds(input); }) &&
               axis_behind(node, 0);
    if (node.op == op::Split) return only_first && axis_behind(node, 0);
    if (node.op == op::Flatten) return only_first && node.integer("axis", 1) == 1;
    if (node.op == op::Transpose) {
        const auto permutation = permutation_of(editor_, node);
        return only_first && permutation && !permutation->empty() && permutation->front() == 0;
    }
    // Both sides are row-major, so that equal parts of one are equal parts of the other.
    if (node.op == op::Reshape) {
        const auto shape = editor_.integers(node.input(1));
        return only_first && shape && !shape->empty();
    }
    return false;
}

bool BatchFlow::shares_inputs(const Node& node, std::size_t from) const {
    return std::none_of(node.inputs.begin() + static_cast<std::ptrdiff_t>(from), node.inputs.end(),
                        [&](ValueId input) { return holds(input); });
}

bool BatchFlow::broadcasts(ValueId value, std::int64_t rank) const {
    const auto dims = editor_.dims(value);
    if (!dims) return false;
    const auto own = static_cast<std::int64_t>(dims->size());
    return own < rank || (own == rank && dims->front() == 1);
}

bool BatchFlow::broadcasts_parameters(const Node& node) const {
    const auto rank = editor_.rank(node.inputs[0]);
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId input) {
        return input == ValueId::none || (rank && broadcasts(input, *rank));
    });
}

bool BatchFlow::follows_pointwise(const Node& node) const {
    const auto rank = editor_.rank(node.outputs[0]);
    return rank && std::ranges::all_of(node.inputs, [&](ValueId input) {
               if (input == ValueId::none) return true;
               return holds(input) ? editor_.rank(input) == rank : broadcasts(input, *rank);
           });
}

bool BatchFlow::follows_matmul(const Node& node) const {
    const ValueId a = node.inputs[0], b = node.inputs[1];
    const std::int64_t left = editor_.rank(a).value_or(0), right = editor_.rank(b).value_or(0);
    if (left < 2 || right < 2) return false;
    if (holds(a) && holds(b)) return left == right && left > 2;
    if (holds(b)) return right > 2 && broadcasts(a, right);
    return left == 2 ? right == 2 : broadcasts(b, left);
}

bool BatchFlow::follows_gemm(const Node& node) const {
    if (!holds(node.inputs[0]) || holds(node.inputs[1]) || node.integer("transA", 0) != 0) return false;
    const ValueId c = node.input(2);
    return c == ValueId::none || (holds(c) ? editor_.rank(c) == 2 : broadcasts(c, 2));
}

bool BatchFlow::follows_gather(const Node& node) const {
    const auto axis = axis_of(editor_, node);
    if (!axis || holds(node.inputs[0]) == holds(node.inputs[1])) return false;
    return holds(node.inputs[0]) ? *axis > 0 : *axis == 0;
}

bool BatchFlow::axis_behind(const Node& node, std::int64_t otherwise) const {
    const auto axis = axis_of(editor_, node, otherwise);
    return axis && *axis > 0;
}

bool BatchFlow::axes_behind(const Node& node, ValueId of) const {
    if (node.input(1) == ValueId::none) return false;
    const auto axes = editor_.integers(node.input(1));
    const auto rank = editor_.rank(of);
    return axes && rank && !axes->empty() && std::ranges::all_of(*axes, [&](std::int64_t axis) {
               return (axis < 0 ? axis + *rank : axis) > 0;
           });
}

}  // namespace viridian::rewrite
