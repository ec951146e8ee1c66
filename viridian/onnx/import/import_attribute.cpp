#include "viridian/onnx/import/import.hpp"
#include "viridian/onnx/tensors/sparse.hpp"
#include "viridian/onnx/tensors/tensor_proto.hpp"

namespace viridian::onnx {
namespace {

// Models before IR version 2 leave the type out.
AttributeProto::AttributeType type_of(const AttributeProto& attribute) {
    if (attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
    if (attribute.has_f()) return AttributeProto::FLOAT;
    if (attribute.has_i()) return AttributeProto::INT;
    if (attribute.has_s()) return AttributeProto::STRING;
    if (attribute.has_t()) return AttributeProto::TENSOR;
    if (attribute.has_g()) return AttributeProto::GRAPH;
    if (attribute.floats_size() > 0) return AttributeProto::FLOATS;
    if (attribute.ints_size() > 0) return AttributeProto::INTS;
    if (attribute.strings_size() > 0) return AttributeProto::STRINGS;
    return AttributeProto::UNDEFINED;
}

Result<void> import_tensor(Context& context, const AttributeProto& attribute, const std::string& node,
                           graph::Attributes& out) {
    const bool sparse = attribute.has_sparse_tensor();
    auto tensor = sparse ? dense(attribute.sparse_tensor(), context.external)
                         : to_tensor(attribute.t(), context.external);
    if (!tensor.ok() && tensor.error().code == ErrorCode::unsupported) {
        context.unsupported.add(fmt::format("node {}: {}", node, tensor.error().message));
        return {};
    }
    if (!tensor.ok()) return std::move(tensor).error().within(fmt::format("node {}", node));
    out[sparse ? "value" : attribute.name()] = std::move(tensor).value();
    return {};
}

}  // namespace

const AttributeProto* resolve(const Scope& scope, const AttributeProto& attribute) {
    if (attribute.ref_attr_name().empty()) return &attribute;
    const auto found = scope.arguments.find(attribute.ref_attr_name());
    return found == scope.arguments.end() ? nullptr : &found->second;
}

Result<graph::Attributes> import_attributes(Context& context, const Scope& scope, const NodeProto& proto) {
    graph::Attributes out;
    for (const AttributeProto& written : proto.attribute()) {
        const AttributeProto* given = resolve(scope, written);
        if (given == nullptr) continue;
        const AttributeProto& attribute = *given;
        graph::Attribute value;
        switch (type_of(attribute)) {
            case AttributeProto::FLOAT:
                value = static_cast<double>(attribute.f());
                break;
            case AttributeProto::INT:
                value = attribute.i();
                break;
            case AttributeProto::STRING:
                value = attribute.s();
                break;
            case AttributeProto::FLOATS:
                value = std::vector<double>(attribute.floats().begin(), attribute.floats().end());
                break;
            case AttributeProto::INTS:
                value = std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
                break;
            case AttributeProto::STRINGS:
                value = std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
                break;
            case AttributeProto::TENSOR:
            case AttributeProto::SPARSE_TENSOR: {
                graph::Attributes tensor;
                VIRIDIAN_TRY(import_tensor(context, attribute, name_of(proto), tensor));
                if (tensor.empty()) continue;
                value = std::move(tensor.begin()->second);
                if (attribute.has_sparse_tensor()) {
                    out["value"] = std::move(value);  // Constant's sparse_value
                    continue;
                }
                break;
            }
            case AttributeProto::GRAPH:
            case AttributeProto::UNDEFINED:  // an empty list, in old models
                continue;
            default:
                context.unsupported.add(fmt::format("node {}: attribute `{}` holds graphs, tensors or types",
                                                    name_of(proto), written.name()));
                continue;
        }
        out[written.name()] = std::move(value);
    }
    return out;
}

}  // namespace viridian::onnx
