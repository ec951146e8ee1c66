#include "viridian/rewrite/samples.hpp"

#include <algorithm>
#include <string_view>

#include "viridian/rewrite/movement.hpp"

namespace viridian::rewrite {
namespace {

bool is_one_of(const Node& node, std::initializer_list<std::string_view> ops) {
    return std::ranges::find(ops, node.op) != ops.end();
}

// Functions of one element of each input, broadcast.
bool is_pointwise(const Node& node) {
    return is_one_of(node, {"Abs",       "Add",
                            "And",       "Cast",
                            "Ceil",      "Clip",
                            "Cos",       "Div",
                            "Elu",       "Equal",
                            "Erf",       "Exp",
                            "Floor",     "Gelu",
                            "Greater",   "HardSigmoid",
                            "HardSwish", "Identity",
                            "Less",      "LeakyRelu",
                            "Log",       "Max",
                            "Mean",      "Min",
                            "Mish",      "Mul",
                            "Neg",       "Not",
                            "Or",        "PRelu",
                            "Pow",       "Reciprocal",
                            "Relu",      "Round",
                            "Selu",      "Sigmoid",
                            "Sign",      "Sin",
                            "Softplus",  "Softsign",
                            "Sqrt",      "Sub",
                            "Sum",       "Swish",
                            "Tanh",      "ThresholdedRelu",
                            "Where"});
}

// Each image of the first input by itself; the other inputs are the same for all.
bool is_of_images(const Node& node) {
    return is_one_of(node, {"AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "DepthToSpace",
                            "GlobalAveragePool", "GlobalMaxPool", "GroupNormalization",
                            "InstanceNormalization", "LRN", "MaxPool", "SpaceToDepth"});
}

bool is_reduction(const Node& node) {
    return is_one_of(node, {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                            "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"});
}

}  // namespace

Samples::Samples(const Editor& editor, std::int64_t batch, std::int64_t parts)
    : editor_(editor), parts_(parts), holds_(editor.graph().value_count(), false) {
    for (const ValueId input : editor.graph().inputs())
        if (const auto dims = editor.dims(input); dims && !dims->empty() && dims->front() == batch)
            holds_[index(input)] = true;
}

bool Samples::follow(NodeId id) {
    const Node& node = editor_.node(id);
    if (!node.domain.empty() || !node.bodies.empty() ||
        std::ranges::none_of(node.inputs, [&](ValueId input) { return holds(input); }) || !one_by_one(node))
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

bool Samples::one_by_one(const Node& node) const {
    if (is_pointwise(node)) return elements(node);
    const bool only_first = holds(node.inputs[0]) && shared(node, 1);
    if (is_of_images(node))  // a second output counts places in the whole batch, or is of a training step
        return only_first && node.outputs.size() == 1 && node.integer("training_mode", 0) == 0;
    if (is_reduction(node)) return only_first && axes_behind(node, node.inputs[0]);
    if (node.op == "MatMul") return product(node);
    if (node.op == "Gemm") return gemm(node);
    if (node.op == "Gather") return gathered(node);
    if (node.op == "Softmax" || node.op == "LogSoftmax") return only_first && axis_behind(node, -1);
    if (node.op == "LayerNormalization") {
        const auto rank = editor_.rank(node.inputs[0]);
        for (std::size_t i = 1; i < node.inputs.size(); ++i)
            if (node.inputs[i] != ValueId::none && !(rank && broadcasts(node.inputs[i], *rank))) return false;
        return only_first && axis_behind(node, -1);
    }
    if (node.op == "Concat")
        return std::ranges::all_of(node.inputs, [&](ValueId input) { return holds(input); }) &&
               axis_behind(node, 0);
    if (node.op == "Split") return only_first && axis_behind(node, 0);
    if (node.op == "Flatten") return only_first && node.integer("axis", 1) == 1;
    if (node.op == "Transpose") {
        const auto permutation = permutation_of(editor_, node);
        return only_first && permutation && !permutation->empty() && permutation->front() == 0;
    }
    // Row-major on both sides, so that equal parts of one are equal parts of the other.
    if (node.op == "Reshape") {
        const auto shape = editor_.integers(node.input(1));
        return only_first && shape && !shape->empty();
    }
    if (node.op == "Squeeze") return only_first && axes_behind(node, node.inputs[0]);
    if (node.op == "Unsqueeze") return only_first && axes_behind(node, node.outputs[0]);
    return false;
}

bool Samples::shared(const Node& node, std::size_t from) const {
    return std::none_of(node.inputs.begin() + static_cast<std::ptrdiff_t>(from), node.inputs.end(),
                        [&](ValueId input) { return holds(input); });
}

bool Samples::broadcasts(ValueId value, std::int64_t rank) const {
    const auto dims = editor_.dims(value);
    if (!dims) return false;
    const auto own = static_cast<std::int64_t>(dims->size());
    return own < rank || (own == rank && dims->front() == 1);
}

bool Samples::elements(const Node& node) const {
    const auto rank = editor_.rank(node.outputs[0]);
    return rank && std::ranges::all_of(node.inputs, [&](ValueId input) {
               if (input == ValueId::none) return true;
               return holds(input) ? editor_.rank(input) == rank : broadcasts(input, *rank);
           });
}

bool Samples::product(const Node& node) const {
    const ValueId a = node.inputs[0], b = node.inputs[1];
    const std::int64_t left = editor_.rank(a).value_or(0), right = editor_.rank(b).value_or(0);
    if (left < 2 || right < 2) return false;
    if (holds(a) && holds(b)) return left == right && left > 2;
    if (holds(b)) return right > 2 && broadcasts(a, right);
    return left == 2 ? right == 2 : broadcasts(b, left);
}

bool Samples::gemm(const Node& node) const {
    if (!holds(node.inputs[0]) || holds(node.inputs[1]) || node.integer("transA", 0) != 0) return false;
    const ValueId c = node.input(2);
    return c == ValueId::none || (holds(c) ? editor_.rank(c) == 2 : broadcasts(c, 2));
}

bool Samples::gathered(const Node& node) const {
    const auto axis = axis_of(editor_, node);
    if (!axis || holds(node.inputs[0]) == holds(node.inputs[1])) return false;
    return holds(node.inputs[0]) ? *axis > 0 : *axis == 0;
}

bool Samples::axis_behind(const Node& node, std::int64_t otherwise) const {
    const auto axis = axis_of(editor_, node, otherwise);
    return axis && *axis > 0;
}

bool Samples::axes_behind(const Node& node, ValueId of) const {
    if (node.input(1) == ValueId::none) return false;
    const auto axes = editor_.integers(node.input(1));
    const auto rank = editor_.rank(of);
    return axes && rank && !axes->empty() && std::ranges::all_of(*axes, [&](std::int64_t axis) {
               return (axis < 0 ? axis + *rank : axis) > 0;
           });
}

}  // namespace viridian::rewrite
