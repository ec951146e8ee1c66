#include <google/protobuf/unknown_field_set.h>

#include <fmt/ranges.h>

#include "viridian/onnx/export/downgrade.hpp"
#include "viridian/onnx/export/export.hpp"
#include "viridian/onnx/tensors/tensor_proto.hpp"

namespace viridian::onnx {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

constexpr std::int64_t shared_from = 1024;  // bytes; smaller constants of bodies stay in them

struct WriteAttribute {
    AttributeProto& out;
    void operator()(std::int64_t value) const {
        out.set_type(AttributeProto::INT);
        out.set_i(value);
    }
    void operator()(double value) const {
        out.set_type(AttributeProto::FLOAT);
        out.set_f(static_cast<float>(value));
    }
    void operator()(const std::string& value) const {
        out.set_type(AttributeProto::STRING);
        out.set_s(value);
    }
    void operator()(const std::vector<std::int64_t>& values) const {
        out.set_type(AttributeProto::INTS);
        out.mutable_ints()->Assign(values.begin(), values.end());
    }
    void operator()(const std::vector<double>& values) const {
        out.set_type(AttributeProto::FLOATS);
        for (const double value : values) out.add_floats(static_cast<float>(value));
    }
    void operator()(const std::vector<std::string>& values) const {
        out.set_type(AttributeProto::STRINGS);
        for (const std::string& value : values) out.add_strings(value);
    }
    void operator()(const graph::Tensor& tensor) const {
        out.set_type(AttributeProto::TENSOR);
        to_proto(tensor, *out.mutable_t());
    }
};

// The name of a constant, written where it is first read.
Result<std::string> export_constant(Exporter& exporter, const Graph& graph, ValueId id, ValueNames& names,
                                    const std::string& prefix, GraphProto& out) {
    const graph::Tensor& tensor = *graph.constant(id);
    const auto key = std::pair(tensor.bytes(), graph::text(tensor.tensor_type()));
    const bool nested = &out != exporter.root;
    const bool share = nested && tensor.byte_count() >= shared_from;
    if (const auto found = exporter.shared.find(key); share && found != exporter.shared.end())
        return found->second;
    const std::string name = &out == exporter.root && !names[index(id)].empty()
                                 ? names[index(id)]
                                 : Exporter::fresh(exporter.names, prefix + graph.value(id).name);
    TensorProto& proto = *(share ? exporter.root : &out)->add_initializer();
    proto.set_name(name);
    bool taken = false;
    if (exporter.sink != nullptr) {
        VIRIDIAN_TRY(taken, exporter.sink->take(tensor, proto));
    }
    if (!taken) to_proto(tensor, proto);
    if (share || !nested) exporter.shared.try_emplace(key, name);
    return name;
}

// metadata_props, newer than the message classes
void add_node_metadata(std::string_view key, const std::string& value, NodeProto& out) {
    ::onnx::StringStringEntryProto entry;
    entry.set_key(std::string(key));
    entry.set_value(value);
    out.GetReflection()->MutableUnknownFields(&out)->AddLengthDelimited(node_metadata,
                                                                        entry.SerializeAsString());
}

void export_metadata(const Node& node, NodeProto& out) {
    if (!node.origin.empty() && (node.origin.size() > 1 || node.origin[0] != node.name))
        add_node_metadata(origin_key, fmt::format("{}", fmt::join(node.origin, "\n")), out);
    if (node.phase != graph::Phase::forward)
        add_node_metadata(phase_key, std::string(name_of(node.phase)), out);
    if (!node.twin.empty()) add_node_metadata(twin_key, node.twin, out);
}

Result<void> export_operator(Exporter& exporter, Node node, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs, const std::string& prefix,
                             GraphProto& out) {
    NodeProto proto;
    proto.set_op_type(std::string(node.op.name()));
    proto.set_domain(std::string(node.op.domain()));
    proto.set_name(Exporter::fresh(exporter.node_names, prefix + node.name));
    exporter.domains.emplace(node.op.domain());
    std::size_t explicit_inputs = node.inputs.size();
    if (!node.bodies.empty())
        explicit_inputs = node.op == graph::op::If
                              ? 1
                              : explicit_inputs - static_cast<std::size_t>(node.integer("captures", 0));
    if (explicit_inputs > node.inputs.size())
        return fail(ErrorCode::broken_invariant, "please report it with the model",
                    "node `{}` captures more than it reads", node.name);
    for (std::size_t i = 0; i < explicit_inputs; ++i) proto.add_input(inputs[i]);
    for (const std::string& output : outputs) proto.add_output(output);
    if (!node.bodies.empty()) node.attributes.erase("captures");
    for (const auto& [key, value] : node.attributes) export_attribute(key, value, *proto.add_attribute());
    const std::vector<std::string> captures(inputs.begin() + static_cast<std::ptrdiff_t>(explicit_inputs),
                                            inputs.end());
    for (std::size_t i = 0; i < node.bodies.size(); ++i) {
        AttributeProto& attribute = *proto.add_attribute();
        attribute.set_name(node.op != graph::op::If ? "body" : i == 0 ? "then_branch" : "else_branch");
        attribute.set_type(AttributeProto::GRAPH);
        VIRIDIAN_TRY(export_body(exporter, *node.bodies[i], captures, prefix + node.name + "/",
                                 *attribute.mutable_g()));
    }
    export_metadata(node, proto);
    *out.add_node() = std::move(proto);
    return {};
}

}  // namespace

void export_attribute(const std::string& name, const graph::Attribute& value, AttributeProto& out) {
    out.set_name(name);
    std::visit(WriteAttribute{out}, value);
}

Result<void> export_nodes(Exporter& exporter, const Graph& graph, ValueNames& names,
                          const std::string& prefix, GraphProto& out) {
    VIRIDIAN_TRY(const std::vector<graph::NodeId> order, topological_order(graph));
    std::vector<bool> written(graph.value_count(), false);  // constants
    const auto name_of = [&](ValueId id) -> Result<std::string> {
        if (id == ValueId::none) return std::string();
        if (graph.constant(id) != nullptr && !written[index(id)]) {
            VIRIDIAN_TRY(names[index(id)], export_constant(exporter, graph, id, names, prefix, out));
            written[index(id)] = true;
        }
        return names[index(id)];
    };
    for (const graph::NodeId id : order) {
        Node node = graph.node(id);
        const bool control =
            (node.op == graph::op::If || node.op == graph::op::Loop || node.op == graph::op::Scan);
        if (node.bodies.empty() || control) downgrade(graph, node, exporter.opset);
        std::vector<std::string> inputs;
        for (const ValueId input : node.inputs) {
            VIRIDIAN_TRY(std::string name, name_of(input));
            inputs.push_back(std::move(name));
        }
        std::vector<std::string> outputs;
        for (const ValueId output : node.outputs) {
            if (output != ValueId::none && names[index(output)].empty())
                names[index(output)] = Exporter::fresh(exporter.names, prefix + graph.value(output).name);
            outputs.push_back(output == ValueId::none ? "" : names[index(output)]);
        }
        if (!node.bodies.empty() && !control) {
            VIRIDIAN_TRY(node.op, export_function(exporter, node));
            node.bodies.clear();
        }
        VIRIDIAN_TRY(export_operator(exporter, std::move(node), inputs, outputs, prefix, out));
    }
    if (&out == exporter.root && prefix.empty())  // constants that are outputs or new values themselves
    {
        for (const ValueId output : graph.outputs()) VIRIDIAN_TRY(name_of(output));
        for (const graph::State& state : graph.states()) VIRIDIAN_TRY(name_of(state.after));
    }
    return {};
}

}  // namespace viridian::onnx
