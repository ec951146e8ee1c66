// Lists of axes that were attributes and became inputs: Squeeze, Unsqueeze (13), the reductions (13, 18),
// Split (13), Slice (10), Pad (2, 11), Upsample aside.
#include "viridian/onnx/upgrade/upgrade.hpp"

namespace viridian::onnx {
namespace {

using graph::ValueId;

Result<void> axes_to_input(Upgrade& node) {
    node.attribute_to_input("axes", 1);
    return {};
}

Result<void> split_to_input(Upgrade& node) {
    node.attribute_to_input("split", 1);
    return {};
}

// Without sizes the parts are equal; their number is said since operator set 18.
Result<void> split_count(Upgrade& node) {
    if (node.node.input(1) == ValueId::none)
        node.node.attributes["num_outputs"] = static_cast<std::int64_t>(node.outputs.size());
    return {};
}

Result<void> slice_to_inputs(Upgrade& node) {
    node.attribute_to_input("starts", 1);
    node.attribute_to_input("ends", 2);
    node.attribute_to_input("axes", 3);
    return {};
}

Result<void> pad_to_inputs(Upgrade& node) {
    if (node.node.has("paddings")) {  // its name in operator set 1
        node.node.attributes["pads"] = node.node.get("paddings", std::vector<std::int64_t>{});
        node.drop("paddings");
    }
    node.attribute_to_input("pads", 1);
    if (const double value = node.node.get("value", 0.0); value != 0.0)
        node.set_input(2, node.scalar_like("value", 0, value));
    node.drop("value");
    return {};
}

constexpr UpgradeRule upgrade_axes_rules[] = {
    {"Squeeze", 13, axes_to_input},         {"Unsqueeze", 13, axes_to_input},
    {"ReduceSum", 13, axes_to_input},       {"ReduceMean", 18, axes_to_input},
    {"ReduceMax", 18, axes_to_input},       {"ReduceMin", 18, axes_to_input},
    {"ReduceProd", 18, axes_to_input},      {"ReduceL1", 18, axes_to_input},
    {"ReduceL2", 18, axes_to_input},        {"ReduceLogSum", 18, axes_to_input},
    {"ReduceLogSumExp", 18, axes_to_input}, {"ReduceSumSquare", 18, axes_to_input},
    {"Split", 13, split_to_input},          {"Split", 18, split_count},
    {"Slice", 10, slice_to_inputs},         {"Pad", 11, pad_to_inputs},
};

}  // namespace

std::span<const UpgradeRule> axes_upgrades() { return upgrade_axes_rules; }

}  // namespace viridian::onnx
