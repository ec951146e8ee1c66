// Upsample (7, 9) and Resize 10 are a Resize with asymmetric coordinates; nearest takes the cell below.
#include "viridian/onnx/upgrade/upgrade.hpp"

namespace viridian::onnx {
namespace {

using graph::ValueId;

Result<void> resize_asymmetric(Upgrade& node) {
    node.node.op = graph::op::Resize;
    ValueId scales = node.node.input(1);
    if (node.node.has("scales")) {
        std::vector<float> factors;
        for (const double factor : node.node.get("scales", std::vector<double>{}))
            factors.push_back(static_cast<float>(factor));
        scales =
            node.constant("scales", graph::Tensor::f32({static_cast<std::int64_t>(factors.size())}, factors));
        node.drop("scales");
    } else if (node.node.has("height_scale")) {  // operator set 1
        const float factors[] = {1, 1, static_cast<float>(node.node.get("height_scale", 1.0)),
                                 static_cast<float>(node.node.get("width_scale", 1.0))};
        scales = node.constant("scales", graph::Tensor::f32({4}, factors));
        node.drop("height_scale");
        node.drop("width_scale");
    }
    if (node.node.get("mode", std::string("nearest")) == "bilinear")
        node.node.attributes["mode"] = std::string("linear");
    if (node.node.inputs.empty()) return node.unsupported("an input is missing");
    node.node.inputs = {node.node.inputs[0], ValueId::none, scales};
    node.node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
    node.node.attributes["nearest_mode"] = std::string("floor");
    return {};
}

// Since 13 the region of interest is only for `tf_crop_and_resize`; an empty tensor says "not given".
Result<void> resize_inputs(Upgrade& node) {
    for (std::size_t i = 1; i < node.node.inputs.size(); ++i)
        if (const graph::Tensor* tensor = node.graph.constant(node.node.inputs[i]);
            tensor != nullptr && tensor->count() == 0)
            node.node.inputs[i] = ValueId::none;
    while (!node.node.inputs.empty() && node.node.inputs.back() == ValueId::none) node.node.inputs.pop_back();
    return {};
}

constexpr UpgradeRule upgrade_resize_rules[] = {
    {"Upsample", 10, resize_asymmetric},
    {"Resize", 11, resize_asymmetric},
    {"Resize", 1000, resize_inputs},
};

}  // namespace

std::span<const UpgradeRule> resize_upgrades() { return upgrade_resize_rules; }

}  // namespace viridian::onnx
