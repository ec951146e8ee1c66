// A node of a private operator calls a function of the model, whose body says in standard operators what the
// node means. Any runtime can run the file; we read the operator itself.
#include <google/protobuf/unknown_field_set.h>

#include "viridian/onnx/export/export.hpp"

namespace viridian::onnx {
namespace {

using graph::Graph;
using graph::ValueId;

void add_constant(const TensorProto& tensor, FunctionProto& out) {  // functions have no initialisers
    NodeProto& node = *out.add_node();
    node.set_op_type("Constant");
    node.set_name(tensor.name());
    node.add_output(tensor.name());
    AttributeProto& value = *node.add_attribute();
    value.set_name("value");
    value.set_type(AttributeProto::TENSOR);
    *value.mutable_t() = tensor;
}

void add_metadata(const std::string& key, const std::string& value, FunctionProto& out) {
    ::onnx::StringStringEntryProto entry;
    entry.set_key(key);
    entry.set_value(value);
    out.GetReflection()->MutableUnknownFields(&out)->AddLengthDelimited(function_metadata,
                                                                        entry.SerializeAsString());
}

Result<void> export_meaning(Exporter& exporter, const Graph& body, FunctionProto& out) {
    GraphProto nodes;
    Exporter inner;
    inner.functions = exporter.functions;
    inner.opset = exporter.opset;
    inner.root = &nodes;
    ValueNames names(body.value_count());
    for (std::size_t i = 0; i < names.size(); ++i) {
        names[i] = body.value(static_cast<ValueId>(i)).name;
        inner.names.insert(names[i]);
    }
    for (const ValueId input : body.inputs()) out.add_input(names[index(input)]);
    VIRIDIAN_TRY(export_nodes(inner, body, names, "", nodes));
    std::unordered_set<std::string> written;
    for (const ValueId output : body.outputs()) {
        std::string name = names[index(output)];
        if (body.value(output).kind != graph::ValueKind::intermediate || !written.insert(name).second) {
            name = Exporter::fresh(inner.names, name);
            add_identity(names[index(output)], name, nodes);
        }
        out.add_output(name);
    }
    for (const TensorProto& tensor : nodes.initializer()) add_constant(tensor, out);
    for (NodeProto& node : *nodes.mutable_node()) *out.add_node() = std::move(node);
    inner.domains.insert("");
    for (const std::string& domain : inner.domains) {
        auto& import = *out.add_opset_import();
        import.set_domain(domain);
        import.set_version(domain.empty() ? exporter.opset : 1);
    }
    return {};
}

}  // namespace

Result<graph::Operator> export_function(Exporter& exporter, const graph::Node& node) {
    if (node.bodies.size() != 1 || node.inputs.size() > node.bodies[0]->inputs().size() ||
        node.outputs.size() > node.bodies[0]->outputs().size())
        return fail(ErrorCode::broken_invariant, "please report it with the model",
                    "node `{}` does not fit its body", node.name);
    FunctionProto function;
    function.set_domain(std::string(private_domain));
    VIRIDIAN_TRY(export_meaning(exporter, *node.bodies[0], function));
    for (const auto& [key, value] : node.attributes) function.add_attribute(key);
    add_metadata(std::string(operator_key), fmt::format("{}:{}", node.op.domain(), node.op.name()), function);
    Functions& functions = *exporter.functions;
    const auto [found, fresh] =
        functions.names.emplace(fmt::format("{}\n{}", node.op.name(), function.SerializeAsString()), "");
    if (fresh) {
        const std::string stem(node.op.name());
        found->second = stem;
        for (int i = 2; !functions.taken.insert(found->second).second; ++i)
            found->second = fmt::format("{}_{}", stem, i);
        function.set_name(found->second);
        functions.written.push_back(std::move(function));
    }
    return graph::Operator(found->second, private_domain);
}

}  // namespace viridian::onnx
