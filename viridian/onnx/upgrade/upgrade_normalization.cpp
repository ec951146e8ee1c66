// Softmax and its kin (13), BatchNormalization (7, 9, 14), GroupNormalization (21),
// MeanVarianceNormalization.
#include "viridian/onnx/upgrade/upgrade.hpp"

namespace viridian::onnx {
namespace {

using graph::ValueId;

// Before 13 these saw a matrix: everything from `axis` on was one row. The same thing where `axis` is the
// last.
Result<void> flattened_rows(Upgrade& node) {
    if (node.node.inputs.empty()) return node.unsupported("an input is missing");
    const std::int64_t axis = node.node.integer("axis", 1);
    const auto rank = node.input_rank(0);
    node.node.attributes["axis"] = std::int64_t{-1};
    if (axis == -1 || (rank && axis == *rank - 1)) return {};
    const ValueId x = node.node.inputs[0];
    const ValueId shape = node.emit("Shape", {x});
    const ValueId matrix = node.emit("Flatten", {x}, {{"axis", axis}});
    const ValueId rows = node.emit(node.node.op, {matrix}, {{"axis", std::int64_t{-1}}});
    node.node.op = graph::op::Reshape;
    node.node.inputs = {rows, shape};
    node.node.attributes = {};
    return {};
}

// Operator set 8 and older could normalise every activation apart (`spatial` 0); 7 and older said `is_test`.
Result<void> batch_norm_spatial(Upgrade& node) {
    if (node.node.integer("spatial", 1) == 0 && node.input_rank(0).value_or(4) > 2)
        return node.unsupported("BatchNormalization over each activation (spatial 0)");
    node.drop("spatial");
    node.drop("consumed_inputs");
    if (node.node.integer("is_test", 0) == 1) node.outputs.resize(1);
    node.drop("is_test");
    return {};
}

// Up to 13, asking for the running statistics meant training.
Result<void> batch_norm_training(Upgrade& node) {
    while (node.outputs.size() > 1 && node.outputs.back().empty()) node.outputs.pop_back();
    if (node.outputs.size() > 3) return node.unsupported("saved statistics as outputs");
    if (node.outputs.size() > 1) node.node.attributes["training_mode"] = std::int64_t{1};
    return {};
}

// Scale and bias were one number per group, now they are one per channel.
Result<void> group_norm_per_channel(Upgrade& node) {
    const auto& type = node.input_type(0);
    const std::int64_t groups = node.node.integer("num_groups", 1);
    if (!type.shape || type.shape->size() < 2 || !(*type.shape)[1].known() || groups < 1 ||
        node.node.inputs.size() < 3)
        return node.unsupported("the number of channels must be known");
    const ValueId wide = node.integers("channels", {groups, (*type.shape)[1].value() / groups});
    for (std::size_t i = 1; i < 3; ++i) {
        const ValueId column = node.emit("Unsqueeze", {node.node.inputs[i], node.integers("axis", {1})});
        const ValueId spread = node.emit("Expand", {column, wide});
        node.node.inputs[i] = node.emit("Reshape", {spread, node.integers("shape", {-1})});
    }
    return {};
}

constexpr UpgradeRule upgrade_normalization_rules[] = {
    {"Softmax", 13, flattened_rows},
    {"LogSoftmax", 13, flattened_rows},
    {"Hardmax", 13, flattened_rows},
    {"BatchNormalization", 9, batch_norm_spatial},
    {"BatchNormalization", 14, batch_norm_training},
    {"GroupNormalization", 21, group_norm_per_channel},
};

}  // namespace

std::span<const UpgradeRule> normalization_upgrades() { return upgrade_normalization_rules; }

}  // namespace viridian::onnx
