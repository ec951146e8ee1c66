#include <algorithm>

#include "viridian/onnx/export/downgrade.hpp"
#include "viridian/onnx/export/export.hpp"
#include "viridian/onnx/tensors/tensor_proto.hpp"

namespace viridian::onnx {
namespace {

using graph::Graph;
using graph::ValueId;
using graph::ValueKind;

bool is_control(const graph::Node& node) {
    return (node.op == graph::op::If || node.op == graph::op::Loop || node.op == graph::op::Scan);
}

void describe(const Graph& graph, ValueId id, const std::string& name, ValueInfoProto& out) {
    out.set_name(name);
    export_type(graph.value(id).type, *out.mutable_type());
}

}  // namespace

void add_identity(const std::string& from, const std::string& to, GraphProto& out) {
    NodeProto& node = *out.add_node();
    node.set_op_type("Identity");
    node.set_name(to);
    node.add_input(from);
    node.add_output(to);
}

std::string Exporter::fresh(std::unordered_set<std::string>& taken, std::string name) {
    if (name.empty()) name = "value";
    const std::string stem = name;
    for (int i = 1; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
    return name;
}

int opset_for(const Graph& graph, int opset) {
    for (const graph::NodeId id : graph.nodes()) {
        const graph::Node& node = graph.node(id);
        if (node.bodies.empty() || is_control(node)) opset = std::max(opset, needed_opset(graph, node));
        for (const auto& body : node.bodies) opset = opset_for(*body, opset);
    }
    return opset;
}

void export_type(const graph::TensorType& type, TypeProto& out) {
    auto& tensor = *out.mutable_tensor_type();
    tensor.set_elem_type(onnx_type(type.element));
    if (!type.shape) return;
    auto& shape = *tensor.mutable_shape();
    for (const graph::Dimension& dimension : *type.shape) {
        auto& written = *shape.add_dim();
        if (dimension.known())
            written.set_dim_value(dimension.value());
        else if (!dimension.symbol().empty())
            written.set_dim_param(dimension.symbol());
    }
}

Result<std::string> export_main(Exporter& exporter, const Graph& graph, GraphProto& out) {
    exporter.root = &out;
    out.set_name(graph.name.empty() ? "graph" : graph.name);
    ValueNames names(graph.value_count());
    for (std::size_t i = 0; i < names.size(); ++i)
        exporter.names.insert(graph.value(static_cast<ValueId>(i)).name);
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = graph.value(static_cast<ValueId>(i)).name;

    for (const ValueId input : graph.inputs()) describe(graph, input, names[index(input)], *out.add_input());
    for (const graph::State& state : graph.states())
        describe(graph, state.before, names[index(state.before)], *out.add_input());
    VIRIDIAN_TRY(export_first_values(exporter, graph, names, out));
    VIRIDIAN_TRY(export_nodes(exporter, graph, names, "", out));
    std::unordered_set<std::string> written;
    const auto add_output = [&](ValueId output, bool copied) {
        std::string name = names[index(output)];
        if (copied || !written.insert(name).second) {
            name = Exporter::fresh(exporter.names, name);
            add_identity(names[index(output)], name, out);
        }
        describe(graph, output, name, *out.add_output());
        return name;
    };
    for (const ValueId output : graph.outputs()) add_output(output, false);
    std::vector<std::string> after;
    for (const graph::State& state : graph.states())
        after.push_back(add_output(state.after, graph.value(state.after).kind != ValueKind::intermediate));
    return text_of_states(graph, names, after);
}

Result<void> export_body(Exporter& exporter, const Graph& body, const std::vector<std::string>& captures,
                         const std::string& prefix, GraphProto& out) {
    out.set_name(body.name.empty() ? "body" : body.name);
    ValueNames names(body.value_count());
    if (captures.size() > body.inputs().size())
        return fail(ErrorCode::broken_invariant, "please report it with the model",
                    "a body of `{}` has too few inputs", prefix);
    const std::size_t own = body.inputs().size() - captures.size();
    for (std::size_t i = 0; i < body.inputs().size(); ++i) {
        const ValueId id = body.inputs()[i];
        if (i >= own) {
            names[index(id)] = captures[i - own];
            continue;
        }
        names[index(id)] = Exporter::fresh(exporter.names, prefix + body.value(id).name);
        describe(body, id, names[index(id)], *out.add_input());
    }
    VIRIDIAN_TRY(export_nodes(exporter, body, names, prefix, out));
    std::unordered_set<std::string> written;
    for (const ValueId output : body.outputs()) {
        std::string name = names[index(output)];
        if (const graph::Tensor* constant = body.constant(output)) {  // a body's output is a node's
            name = Exporter::fresh(exporter.names, prefix + body.value(output).name);
            NodeProto& node = *out.add_node();
            node.set_op_type("Constant");
            node.set_name(name);
            node.add_output(name);
            export_attribute("value", *constant, *node.add_attribute());
        } else if (body.value(output).kind != ValueKind::intermediate || !written.insert(name).second) {
            name = Exporter::fresh(exporter.names, prefix + body.value(output).name);
            add_identity(names[index(output)], name, out);
        }
        describe(body, output, name, *out.add_output());
    }
    return {};
}

}  // namespace viridian::onnx
