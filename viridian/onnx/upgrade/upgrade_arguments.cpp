// Other attributes that became inputs or changed their meaning.
#include <limits>

#include "viridian/onnx/upgrade/upgrade.hpp"

namespace viridian::onnx {
namespace {

Result<void> clip_bounds(Upgrade& node) {
    if (node.node.has("min")) node.set_input(1, node.scalar_like("min", 0, node.node.get("min", 0.0)));
    if (node.node.has("max")) node.set_input(2, node.scalar_like("max", 0, node.node.get("max", 0.0)));
    node.drop("min");
    node.drop("max");
    return {};
}

// Before operator set 12 a Dropout in a model that is run does nothing; set 6 still had `is_test`.
Result<void> dropout_ratio(Upgrade& node) {
    if (node.opset < 7 && node.node.integer("is_test", 0) == 0 && node.node.has("is_test"))
        return node.unsupported("Dropout that trains");
    if (node.node.has("ratio"))
        node.set_input(
            1,
            node.constant("ratio", graph::Tensor::scalar(static_cast<float>(node.node.get("ratio", 0.5)))));
    node.drop("ratio");
    node.drop("is_test");
    return {};
}

Result<void> top_k_count(Upgrade& node) {
    if (node.node.has("k")) node.set_input(1, node.integers("k", {node.node.integer("k", 1)}));
    node.drop("k");
    return {};
}

Result<void> reshape_shape(Upgrade& node) {
    node.attribute_to_input("shape", 1);
    return {};
}

Result<void> scatter_is_scatter_elements(Upgrade& node) {
    node.node.op = graph::op::ScatterElements;
    return {};
}

// Operator sets 10 to 15 knew one way; 16 made another the default.
Result<void> roi_align_corners(Upgrade& node) {
    node.node.attributes["coordinate_transformation_mode"] = std::string("output_half_pixel");
    return {};
}

Result<void> grid_sample_modes(Upgrade& node) {
    const auto mode = node.node.get("mode", std::string("bilinear"));
    node.node.attributes["mode"] = mode == "bilinear"  ? std::string("linear")
                                   : mode == "bicubic" ? std::string("cubic")
                                                       : mode;
    return {};
}

Result<void> transform_axis(Upgrade& node) {
    node.set_input(2, node.constant("axis", graph::Tensor::scalar(node.node.integer("axis", 1))));
    node.drop("axis");
    return {};
}

Result<void> concat_axis(Upgrade& node) {
    if (!node.node.has("axis")) node.node.attributes["axis"] = std::int64_t{1};
    return {};
}

constexpr std::pair<std::string_view, std::int64_t> type_names[] = {
    {"FLOAT", 1}, {"UINT8", 2}, {"INT8", 3},     {"UINT16", 4},  {"INT16", 5},   {"INT32", 6},
    {"INT64", 7}, {"BOOL", 9},  {"FLOAT16", 10}, {"DOUBLE", 11}, {"UINT32", 12}, {"UINT64", 13}};

Result<void> cast_name(Upgrade& node) {
    const auto name = node.node.get("to", std::string());
    for (const auto& [text, number] : type_names)
        if (text == name) node.node.attributes["to"] = number;
    return {};
}

constexpr UpgradeRule upgrade_arguments_rules[] = {
    {"Concat", 4, concat_axis},
    {"Reshape", 5, reshape_shape},
    {"Cast", 6, cast_name},
    {"TopK", 10, top_k_count},
    {"Clip", 11, clip_bounds},
    {"Scatter", 11, scatter_is_scatter_elements},
    {"Dropout", 12, dropout_ratio},
    {"RoiAlign", 16, roi_align_corners},
    {"GridSample", 20, grid_sample_modes},
    {"DFT", 20, transform_axis},
};

}  // namespace

std::span<const UpgradeRule> argument_upgrades() { return upgrade_arguments_rules; }

}  // namespace viridian::onnx
