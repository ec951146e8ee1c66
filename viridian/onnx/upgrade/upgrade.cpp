#include "viridian/onnx/upgrade/upgrade.hpp"

#include "viridian/graph/infer.hpp"

namespace viridian::onnx {

using graph::ValueId;

const graph::TensorType& Upgrade::input_type(std::size_t i) const {
    static const graph::TensorType unknown;
    return node.input(i) == ValueId::none ? unknown : graph.value(node.input(i)).type;
}

std::optional<std::int64_t> Upgrade::input_rank(std::size_t i) const {
    const auto& shape = input_type(i).shape;
    if (!shape) return std::nullopt;
    return static_cast<std::int64_t>(shape->size());
}

void Upgrade::set_input(std::size_t i, ValueId value) {
    if (node.inputs.size() <= i) node.inputs.resize(i + 1, ValueId::none);
    node.inputs[i] = value;
}

ValueId Upgrade::constant(std::string_view suffix, graph::Tensor tensor) {
    return graph.add_constant(fmt::format("{}/{}", node.name, suffix), std::move(tensor));
}

ValueId Upgrade::integers(std::string_view suffix, const std::vector<std::int64_t>& values) {
    return constant(suffix, graph::Tensor::i64({static_cast<std::int64_t>(values.size())}, values));
}

ValueId Upgrade::scalar_like(std::string_view suffix, std::size_t like, double value) {
    graph::Tensor tensor(input_type(like).element, {});
    switch (tensor.type()) {
        case graph::ElementType::f64:
            tensor.mutable_values<double>()[0] = value;
            break;
        case graph::ElementType::f16:
            tensor.mutable_values<std::uint16_t>()[0] = graph::to_half(static_cast<float>(value));
            break;
        case graph::ElementType::bf16:
            tensor.mutable_values<std::uint16_t>()[0] = graph::to_bfloat16(static_cast<float>(value));
            break;
        default:
            tensor = graph::Tensor::scalar(static_cast<float>(value));
    }
    return constant(suffix, std::move(tensor));
}

ValueId Upgrade::emit(graph::Operator op, std::vector<ValueId> inputs, graph::Attributes attributes) {
    graph::Node helper;
    helper.name = fmt::format("{}/{}", node.name, op);
    helper.op = std::move(op);
    helper.inputs = std::move(inputs);
    helper.attributes = std::move(attributes);
    helper.origin = node.origin;
    helper.phase = node.phase;
    helper.twin = node.twin;
    const graph::NodeId id = graph.add_node(std::move(helper));
    (void)graph::infer_node_types(graph, id);  // what is wrong shows again when the whole graph is inferred
    return graph.node(id).outputs[0];
}

void Upgrade::attribute_to_input(std::string_view key, std::size_t i) {
    if (!node.has(key)) return;
    set_input(i, integers(key, node.get(key, std::vector<std::int64_t>{})));
    drop(key);
}

Error Upgrade::unsupported(std::string_view what) const {
    return fail(ErrorCode::unsupported, "export the model with operator set 13 or newer",
                "node `{}` ({}, operator set {}): {}", node.name, node.op, opset, what);
}

Result<void> upgrade(Upgrade& node) {
    if (!node.node.op.domain().empty()) return {};
    const std::string op(node.node.op.name());
    if (node.opset < 6) node.drop("consumed_inputs");
    for (const auto rules : {broadcast_upgrades(), argument_upgrades(), axes_upgrades(), resize_upgrades(),
                             normalization_upgrades(), scan_upgrades()})
        for (const UpgradeRule& rule : rules)
            if (rule.op == op && node.opset < rule.before) VIRIDIAN_TRY(rule.apply(node));
    return {};
}

}  // namespace viridian::onnx
