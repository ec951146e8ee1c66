#include <unordered_set>

#include "viridian/onnx/import/import.hpp"
#include "viridian/onnx/tensors/sparse.hpp"
#include "viridian/onnx/tensors/tensor_proto.hpp"

namespace viridian::onnx {
namespace {

using graph::ElementType;
using graph::ValueId;

Error defined_twice(const std::string& name) {
    return fail(ErrorCode::malformed, "export the model again", "`{}` is defined twice", name);
}

Result<void> import_inputs(Context& context, Scope& scope, const GraphProto& proto) {
    std::unordered_set<std::string_view> constants;
    for (const TensorProto& tensor : proto.initializer()) constants.insert(tensor.name());
    std::unordered_set<std::string_view> states;
    for (const WrittenState& state : context.states) states.insert(state.before);
    for (const ValueInfoProto& input : proto.input()) {
        if (states.contains(input.name())) continue;
        if (constants.contains(input.name())) continue;  // up to IR version 3 initialisers were inputs too
        if (input.name().empty())
            return fail(ErrorCode::malformed, "export the model again", "an input has no name");
        if (input.type().value_case() == TypeProto::VALUE_NOT_SET ||
            (input.type().has_tensor_type() && input.type().tensor_type().elem_type() == 0))
            return fail(ErrorCode::malformed, "export the model again", "the input `{}` has no element type",
                        input.name());
        VIRIDIAN_TRY(graph::TensorType type, import_type(context, input));
        if (scope.values.contains(input.name())) return defined_twice(input.name());
        scope.values[input.name()] = scope.graph.add_input(input.name(), std::move(type));
    }
    return {};
}

bool awaits_first_value(const graph::Graph& graph, ValueId id) {
    return id != ValueId::none && graph.value(id).kind == graph::ValueKind::state &&
           graph.first_value(id) == nullptr;
}

// Where our own rules leave something open, the model's word counts.
Result<void> use_declared_types(Context& context, Scope& scope,
                                const google::protobuf::RepeatedPtrField<ValueInfoProto>& infos) {
    for (const ValueInfoProto& info : infos) {
        const auto found = scope.values.find(info.name());
        if (found == scope.values.end() || !info.has_type()) continue;
        const graph::TensorType& known = scope.graph.value(found->second).type;
        if (known.element != ElementType::undefined && known.shape) continue;
        VIRIDIAN_TRY(graph::TensorType declared, import_type(context, info));
        if (known.element == ElementType::undefined || known.element == declared.element)
            scope.graph.set_type(found->second, std::move(declared));
    }
    return {};
}

}  // namespace

Result<graph::TensorType> import_type(Context& context, const ValueInfoProto& info) {
    const TypeProto& proto = info.type();
    if (proto.has_sequence_type() || proto.has_map_type() || proto.has_optional_type() ||
        proto.has_sparse_tensor_type()) {
        context.unsupported.add(
            fmt::format("`{}` is a sequence, map, optional or sparse tensor", info.name()));
        return graph::TensorType();
    }
    graph::TensorType type;
    const std::int32_t element = proto.tensor_type().elem_type();
    type.element = element_type(element);
    if (element != 0 && type.element == ElementType::undefined)
        context.unsupported.add(
            fmt::format("`{}` has the element type {}", info.name(), name_of_onnx_type(element)));
    if (!proto.tensor_type().has_shape()) return type;
    type.shape.emplace();
    for (const auto& dimension : proto.tensor_type().shape().dim()) {
        if (!dimension.has_dim_value()) {
            type.shape->push_back(dimension.dim_param().empty() ? graph::Dimension()
                                                                : graph::Dimension(dimension.dim_param()));
            continue;
        }
        if (dimension.dim_value() < -1)  // −1: some exporters' "not known"
            return fail(ErrorCode::malformed, "export the model again", "`{}` has the dimension {}",
                        info.name(), dimension.dim_value());
        type.shape->push_back(dimension.dim_value() < 0 ? graph::Dimension()
                                                        : graph::Dimension(dimension.dim_value()));
    }
    graph::Dims known;
    for (const auto& dimension : *type.shape)
        if (dimension.known()) known.push_back(dimension.value());
    if (auto count = graph::element_count(known); !count.ok())
        return std::move(count).error().within(fmt::format("`{}`", info.name()));
    return type;
}

Result<void> import_constants(Context& context, Scope& scope, GraphProto& proto, bool take) {
    const auto add = [&](const std::string& name, graph::Tensor tensor) -> Result<void> {
        if (name.empty())
            return fail(ErrorCode::malformed, "export the model again", "an initializer has no name");
        if (const auto known = scope.values.find(name); known != scope.values.end()) {
            if (!awaits_first_value(scope.graph, known->second)) return defined_twice(name);
            return set_first_value(scope, known->second, std::move(tensor));
        }
        scope.values[name] = scope.graph.add_constant(scope.prefix + name, std::move(tensor));
        return {};
    };
    for (TensorProto& tensor : *proto.mutable_initializer()) {
        auto constant = to_tensor(tensor, context.external, take);
        if (!constant.ok() && constant.error().code == ErrorCode::unsupported) {
            context.unsupported.add(constant.error().message);
            if (scope.values.contains(tensor.name())) continue;  // a state
            VIRIDIAN_TRY(add(tensor.name(), graph::Tensor::scalar(0.0F)));
            continue;
        }
        if (!constant.ok()) return std::move(constant).error();
        VIRIDIAN_TRY(add(tensor.name(), std::move(constant).value()));
    }
    for (const auto& sparse : proto.sparse_initializer()) {
        VIRIDIAN_TRY(graph::Tensor constant, dense(sparse, context.external));
        VIRIDIAN_TRY(add(sparse.values().name(), std::move(constant)));
    }
    return {};
}

Result<void> import_nodes(Context& context, Scope& scope, const Nodes& nodes) {
    std::vector<std::string_view> outside;
    outside.reserve(scope.values.size());
    for (const auto& [name, value] : scope.values) outside.push_back(name);
    VIRIDIAN_TRY(const std::vector<int> order, node_order(nodes, outside));
    for (const int i : order) VIRIDIAN_TRY(import_node(context, scope, nodes[i]));
    return {};
}

Result<graph::Graph> import_graph(Context& context, GraphProto& proto, Opsets opsets) {
    graph::Graph graph;
    graph.name = proto.name();
    Scope scope{.graph = graph,
                .values = {},
                .opsets = std::move(opsets),
                .prefix = {},
                .arguments = {},
                .renamed = {}};
    VIRIDIAN_TRY(import_inputs(context, scope, proto));
    VIRIDIAN_TRY(import_states(context, scope, proto));
    VIRIDIAN_TRY(import_constants(context, scope, proto, true));
    VIRIDIAN_TRY(import_nodes(context, scope, proto.node()));
    VIRIDIAN_TRY(use_declared_types(context, scope, proto.value_info()));
    VIRIDIAN_TRY(use_declared_types(context, scope, proto.output()));
    VIRIDIAN_TRY(set_new_values(context, scope));
    std::unordered_set<std::string_view> new_values;
    for (const WrittenState& state : context.states) new_values.insert(state.after);
    std::vector<ValueId> outputs;
    for (const ValueInfoProto& output : proto.output()) {
        if (new_values.contains(output.name())) continue;
        const auto found = scope.values.find(output.name());
        if (found == scope.values.end())
            return fail(ErrorCode::malformed, "export the model again", "nothing defines the output `{}`",
                        output.name());
        outputs.push_back(found->second);
    }
    graph.set_outputs(std::move(outputs));
    return graph;
}

}  // namespace viridian::onnx
