// Scan 8 ran over axis 1 of every element of a batch (axis 0). That is today's Scan within a Scan over the
// batch.
#include "viridian/onnx/upgrade/upgrade.hpp"

namespace viridian::onnx {
namespace {

using graph::ValueId;

Result<void> scan_of_batch(Upgrade& node) {
    graph::Node& outer = node.node;
    if (outer.inputs.empty() || outer.bodies.size() != 1)
        return node.unsupported("an input or the body is missing");
    if (outer.inputs[0] != ValueId::none) return node.unsupported("sequence lengths");
    outer.inputs.erase(outer.inputs.begin());
    const auto captures = static_cast<std::size_t>(outer.integer("captures", 0));
    if (captures > outer.inputs.size()) return node.unsupported("its captures do not fit");

    graph::Graph batch_element;
    graph::Node inner;
    inner.op = graph::op::Scan;
    inner.name = outer.name + "/element";
    inner.attributes = outer.attributes;
    if (outer.has("directions")) inner.attributes["scan_input_directions"] = outer.attributes["directions"];
    inner.attributes.erase("directions");
    inner.bodies = outer.bodies;
    for (std::size_t i = 0; i < outer.inputs.size(); ++i) {
        graph::TensorType type =
            outer.inputs[i] == ValueId::none ? graph::TensorType() : node.graph.value(outer.inputs[i]).type;
        const bool captured = i + captures >= outer.inputs.size();
        if (!captured && type.shape && !type.shape->empty()) type.shape->erase(type.shape->begin());
        inner.inputs.push_back(batch_element.add_input(fmt::format("input_{}", i), std::move(type)));
    }
    const graph::NodeId id = batch_element.add_node(std::move(inner), node.outputs.size());
    batch_element.set_outputs(batch_element.node(id).outputs);

    outer.bodies = {std::make_shared<const graph::Graph>(std::move(batch_element))};
    outer.attributes = {{"num_scan_inputs", static_cast<std::int64_t>(outer.inputs.size() - captures)},
                        {"captures", static_cast<std::int64_t>(captures)}};
    return {};
}

constexpr UpgradeRule upgrade_scan_rules[] = {{"Scan", 9, scan_of_batch}};

}  // namespace

std::span<const UpgradeRule> scan_upgrades() { return upgrade_scan_rules; }

}  // namespace viridian::onnx
