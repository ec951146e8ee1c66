#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/row.hpp"
#include "viridian/onnx/import/versions.hpp"
#include "viridian/onnx/upgrade/upgrade.hpp"

namespace viridian::onnx {
namespace {

using graph::ValueId;

std::string joined_domain(const NodeProto& proto) {
    return proto.domain() == "ai.onnx" ? "" : proto.domain();
}

// Constant in its many spellings, as a tensor. Null: none that we can hold.
std::optional<graph::Tensor> constant_value(const graph::Node& node) {
    if (const auto tensor = node.attributes.find("value"); tensor != node.attributes.end())
        if (const auto* value = std::get_if<graph::Tensor>(&tensor->second)) return *value;
    if (node.has("value_int")) return graph::Tensor::scalar(node.integer("value_int", 0));
    if (node.has("value_float"))
        return graph::Tensor::scalar(static_cast<float>(node.get("value_float", 0.0)));
    if (node.has("value_ints")) {
        const auto values = node.get("value_ints", std::vector<std::int64_t>{});
        return graph::Tensor::i64({static_cast<std::int64_t>(values.size())}, values);
    }
    if (node.has("value_floats")) {
        std::vector<float> values;
        for (const double value : node.get("value_floats", std::vector<double>{}))
            values.push_back(static_cast<float>(value));
        return graph::Tensor::f32({static_cast<std::int64_t>(values.size())}, values);
    }
    return std::nullopt;
}

Result<void> import_constant(Context& context, Scope& scope, const NodeProto& proto, const graph::Node& node,
                             const std::vector<std::string>& outputs) {
    if (outputs.size() != 1 || outputs[0].empty())
        return fail(ErrorCode::malformed, "export the model again", "node {} must have one output",
                    name_of(proto));
    auto value = constant_value(node);
    if (!value) {
        context.unsupported.add(fmt::format("node {} holds strings, or nothing", name_of(proto)));
        value = graph::Tensor::scalar(0.0F);
    }
    scope.values[proto.output(0)] = scope.graph.add_constant(outputs[0], std::move(*value));
    return {};
}

Result<void> check_arity(const graph::OperatorRow& row, const graph::Node& node, std::size_t outputs,
                         const NodeProto& proto) {
    const auto given = static_cast<int>(node.inputs.size());
    bool fits = given >= row.inputs.least && given <= row.inputs.most &&
                static_cast<int>(outputs) >= row.outputs.least &&
                static_cast<int>(outputs) <= row.outputs.most;
    for (int i = 0; fits && i < row.inputs.least; ++i)
        fits = node.inputs[static_cast<std::size_t>(i)] != ValueId::none;
    if (fits) return {};
    return fail(ErrorCode::malformed, "export the model again",
                "node {} has {} inputs and {} outputs, which its operator does not allow", name_of(proto),
                given, outputs);
}

// Operators that name an element type we do not have.
void check_named_type(Context& context, const graph::Node& node, const NodeProto& proto) {
    for (const std::string_view key : {"to", "dtype", "output_dtype"}) {
        const auto number = static_cast<std::int32_t>(node.integer(key, 0));
        if (node.op.domain().empty() && number != 0 && element_type(number) == graph::ElementType::undefined)
            context.unsupported.add(
                fmt::format("node {} makes {}", name_of(proto), name_of_onnx_type(number)));
    }
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> list;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find('\n', from), text.size());
        list.push_back(text.substr(from, to - from));
        from = to + 1;
    }
    return list;
}

}  // namespace

Result<void> Context::spend(std::int64_t nodes) {
    nodes_left -= nodes;
    if (nodes_left >= 0) return {};
    return fail(ErrorCode::limit_exceeded, "simplify the model",
                "the model has too many nodes once its functions are inlined");
}

std::vector<std::string> newer_fields(const google::protobuf::Message& message, int number) {
    std::vector<std::string> found;
    const auto& fields = message.GetReflection()->GetUnknownFields(message);
    for (int i = 0; i < fields.field_count(); ++i)
        if (fields.field(i).number() == number &&
            fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
            found.push_back(fields.field(i).length_delimited());
    return found;
}

// PyTorch's newer exporter keeps the module path as metadata, "['', 'layer1', 'layer1.0', 'conv2d']"; others
// put it into the node's name.
std::vector<std::string> origin_of(const NodeProto& node, std::string_view prefix) {
    std::string name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
    for (const std::string& bytes : newer_fields(node, node_metadata)) {
        ::onnx::StringStringEntryProto entry;
        if (!entry.ParseFromString(bytes)) continue;
        if (entry.key() == origin_key) return lines(entry.value());
        if (entry.key() != "pkg.torch.onnx.name_scopes") continue;
        std::vector<std::string> scopes;
        const std::string& list = entry.value();
        for (std::size_t from = list.find('\''); from != std::string::npos;
             from = list.find('\'', from + 1)) {
            const std::size_t to = list.find('\'', from + 1);
            if (to == std::string::npos) break;
            scopes.push_back(list.substr(from + 1, to - from - 1));
            from = to;
        }
        if (scopes.size() >= 2 && !scopes[scopes.size() - 2].empty())
            name = fmt::format("{}/{}", scopes[scopes.size() - 2], name);
    }
    return {std::string(prefix) + name};
}

Part part_of(const Context& context, const Scope& scope, const NodeProto& node) {
    Part part = scope.part;
    for (const std::string& bytes : newer_fields(node, node_metadata)) {
        ::onnx::StringStringEntryProto entry;
        if (!entry.ParseFromString(bytes)) continue;
        if (entry.key() == twin_key) part.twin = entry.value();
        if (entry.key() != phase_key) continue;
        const auto phase = graph::parse_phase(entry.value());
        if (!phase && context.listener != nullptr)
            context.listener->note(fmt::format("Node {} has the unknown phase `{}` and counts as forward.",
                                               name_of(node), entry.value()));
        part.phase = phase.value_or(graph::Phase::forward);
    }
    if (part.phase == graph::Phase::forward) part.twin.clear();
    return part;
}

Result<ValueId> find_value(const Scope& scope, const std::string& name, const NodeProto& proto) {
    if (name.empty()) return ValueId::none;
    const auto found = scope.values.find(name);
    if (found == scope.values.end())
        return fail(ErrorCode::malformed, "export the model again",
                    "node {} reads `{}`, which nothing defines", name_of(proto), name);
    return found->second;
}

namespace {

// The node with its name, attributes and inputs.
Result<graph::Node> read_node(Context& context, const Scope& scope, const NodeProto& proto) {
    graph::Node node;
    node.op = graph::Operator(proto.op_type(), joined_domain(proto));
    node.name =
        scope.prefix + (proto.name().empty() && proto.output_size() > 0 ? proto.output(0) : proto.name());
    node.origin = origin_of(proto, scope.prefix);
    Part part = part_of(context, scope, proto);
    node.phase = part.phase;
    node.twin = std::move(part.twin);
    VIRIDIAN_TRY(node.attributes, import_attributes(context, scope, proto));
    for (const std::string& input : proto.input()) {
        VIRIDIAN_TRY(const ValueId id, find_value(scope, input, proto));
        node.inputs.push_back(id);
    }
    while (!node.inputs.empty() && node.inputs.back() == ValueId::none) node.inputs.pop_back();
    return node;
}

// The names of the node's outputs in the graph; "" for one that is left out.
std::vector<std::string> output_names(const Scope& scope, const NodeProto& proto) {
    std::vector<std::string> outputs;
    for (const std::string& output : proto.output()) {
        const auto renamed = scope.renamed.find(output);
        outputs.push_back(output.empty()                   ? ""
                          : renamed == scope.renamed.end() ? scope.prefix + output
                                                           : renamed->second);
    }
    while (!outputs.empty() && outputs.back().empty()) outputs.pop_back();
    return outputs;
}

// Brings a node of ai.onnx to the newest meaning of its operator; helpers that this needs join the graph.
Result<void> upgrade_node(Context& context, Scope& scope, graph::Node& node,
                          std::vector<std::string>& outputs, std::int64_t opset) {
    const std::size_t helpers = scope.graph.node_slots();
    Upgrade older{scope.graph, node, static_cast<int>(opset), outputs};
    if (auto done = upgrade(older); !done.ok()) {
        if (done.error().code != ErrorCode::unsupported) return done;
        context.unsupported.add(done.error().message);
    }
    for (std::size_t i = helpers; i < scope.graph.node_slots(); ++i)
        if (const graph::Node& helper = scope.graph.node(static_cast<graph::NodeId>(i));
            graph::find_operator(helper) == nullptr)
            context.unsupported.add_operator(helper.op, helper.name);
    return {};
}

Result<void> add_to_graph(Context& context, Scope& scope, const NodeProto& proto, graph::Node node,
                          const std::vector<std::string>& outputs) {
    const graph::OperatorRow* row = graph::find_operator(node);
    if (row == nullptr && node.bodies.empty()) {
        context.unsupported.add_operator(node.op, node.name);
    } else if (row != nullptr &&
               context.unsupported.none()) {  // later complaints may only follow from earlier
        VIRIDIAN_TRY(check_arity(*row, node, outputs.size(), proto));
    }
    const graph::NodeId id = scope.graph.add_node(std::move(node), outputs);
    if (context.unsupported.none()) VIRIDIAN_TRY(graph::infer_node_types(scope.graph, id));
    for (int i = 0; i < proto.output_size(); ++i)
        if (!proto.output(i).empty() && static_cast<std::size_t>(i) < scope.graph.node(id).outputs.size())
            scope.values[proto.output(i)] = scope.graph.node(id).outputs[static_cast<std::size_t>(i)];
    return {};
}

}  // namespace

Result<void> import_node(Context& context, Scope& scope, const NodeProto& proto) {
    VIRIDIAN_TRY(context.spend(1));
    const Context::Function* function = find_function(context, proto);
    if (function != nullptr) VIRIDIAN_TRY(context.spend(function->size));
    if (function != nullptr && function->proto->domain() != private_domain)
        return inline_function(context, scope, proto, *function->proto);

    VIRIDIAN_TRY(graph::Node node, read_node(context, scope, proto));
    std::vector<std::string> outputs = output_names(scope, proto);
    if (function != nullptr) {
        VIRIDIAN_TRY(const bool restored, restore_operator(context, scope, proto, *function->proto, node));
        if (!restored) return inline_function(context, scope, proto, *function->proto);
        return add_to_graph(context, scope, proto, std::move(node), outputs);
    }
    const auto opset = scope.opsets.find(node.op.domain());
    if (node.op.domain().empty() && opset == scope.opsets.end())
        return fail(ErrorCode::malformed, "export the model again",
                    "node {} uses ai.onnx, whose operator set is not imported", name_of(proto));
    if (node.op == graph::op::Constant) return import_constant(context, scope, proto, node, outputs);
    if (node.op == graph::op::If || node.op == graph::op::Loop || node.op == graph::op::Scan)
        VIRIDIAN_TRY(import_bodies(context, scope, proto, node));
    check_named_type(context, node, proto);
    check_newest_meaning(context, scope.graph, node, proto);
    if (node.op.domain().empty()) VIRIDIAN_TRY(upgrade_node(context, scope, node, outputs, opset->second));
    return add_to_graph(context, scope, proto, std::move(node), outputs);
}

}  // namespace viridian::onnx
