// Model functions are inlined where they are called: their nodes join the caller's graph under the call's
// name. Only functions that stand for operators of ours become nodes of those operators again.
#include <algorithm>

#include "viridian/graph/infer.hpp"
#include "viridian/onnx/export/downgrade.hpp"
#include "viridian/onnx/import/versions.hpp"

namespace viridian::onnx {
namespace {

using graph::ValueId;

// What the call gives for the function's attributes, defaults filled in.
std::map<std::string, AttributeProto, std::less<>> arguments_of(const Scope& scope, const NodeProto& call,
                                                                const FunctionProto& function) {
    std::map<std::string, AttributeProto, std::less<>> arguments;
    for (const std::string& bytes : newer_fields(function, 11)) {
        AttributeProto attribute;
        if (attribute.ParseFromString(bytes)) arguments[attribute.name()] = std::move(attribute);
    }
    for (const AttributeProto& written : call.attribute())
        if (const AttributeProto* attribute = resolve(scope, written)) arguments[written.name()] = *attribute;
    return arguments;
}

// The operator that a function of ours stands for.
std::optional<graph::Operator> operator_of(const FunctionProto& function) {
    if (function.domain() != private_domain) return std::nullopt;
    for (const std::string& bytes : newer_fields(function, function_metadata)) {
        ::onnx::StringStringEntryProto entry;
        if (!entry.ParseFromString(bytes) || entry.key() != operator_key) continue;
        const std::string& text = entry.value();
        const auto colon = text.find(':');
        if (colon != std::string::npos && colon + 1 < text.size())
            return graph::Operator(std::string_view(text).substr(colon + 1),
                                   std::string_view(text).substr(0, colon));
    }
    return std::nullopt;
}

Result<std::shared_ptr<const graph::Graph>> import_meaning(Context& context, const Scope& scope,
                                                           const NodeProto& call, const graph::Node& node,
                                                           const FunctionProto& function) {
    graph::Graph body;
    body.name = function.name();
    VIRIDIAN_TRY(const Opsets opsets, check_opsets(function.opset_import(), context.model));
    Scope inner{.graph = body,
                .values = {},
                .opsets = opsets.empty() ? scope.opsets : opsets,
                .prefix = {},
                .arguments = arguments_of(scope, call, function),
                .renamed = {}};
    for (int i = 0; i < function.input_size(); ++i) {
        const ValueId given = node.input(static_cast<std::size_t>(i));
        inner.values[function.input(i)] = body.add_input(
            function.input(i), given == ValueId::none ? graph::TensorType() : scope.graph.value(given).type);
    }
    context.active.push_back(&function);
    VIRIDIAN_TRY(import_nodes(context, inner, function.node()));
    context.active.pop_back();
    std::vector<ValueId> outputs;
    for (const std::string& output : function.output()) {
        VIRIDIAN_TRY(const ValueId id, find_value(inner, output, call));
        outputs.push_back(id);
    }
    body.set_outputs(std::move(outputs));
    return std::shared_ptr<const graph::Graph>(std::make_shared<graph::Graph>(std::move(body)));
}

Result<void> check_call(const Context& context, const NodeProto& call, const FunctionProto& function) {
    if (std::find(context.active.begin(), context.active.end(), &function) != context.active.end() ||
        context.active.size() > 64)
        return fail(ErrorCode::malformed, "export the model again", "function `{}` calls itself",
                    function.name());
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
        return fail(ErrorCode::malformed, "export the model again",
                    "node {} gives function `{}` {} inputs and {} outputs; it has {} and {}", name_of(call),
                    function.name(), call.input_size(), call.output_size(), function.input_size(),
                    function.output_size());
    return {};
}

}  // namespace

namespace {

bool has_required_inputs(const graph::Node& node) {
    for (int i = 0; i < node.op.row()->inputs.least; ++i)
        if (node.input(static_cast<std::size_t>(i)) == graph::ValueId::none) return false;
    return true;
}

}  // namespace

Result<bool> restore_operator(Context& context, Scope& scope, const NodeProto& call,
                              const FunctionProto& function, graph::Node& node) {
    const std::optional<graph::Operator> op = operator_of(function);
    if (!op) return false;
    VIRIDIAN_TRY(check_call(context, call, function));
    VIRIDIAN_TRY(auto body, import_meaning(context, scope, call, node, function));
    graph::Node restored = node;
    restored.op = *op;
    const graph::OperatorRow* row = op->row();
    const bool meant = row != nullptr && row->meaning != nullptr;
    if (row == nullptr || (op->domain() == private_domain && !meant)) {
        restored.bodies = {std::move(body)};
    } else if (!op->domain().empty() && !meant) {
        return false;
    } else {  // the row says what the operator means: the function must be what we write of it
        if (!has_required_inputs(restored)) return false;
        graph::Node lowered = restored;
        downgrade(scope.graph, lowered, oldest_written_opset);
        if (lowered.bodies.size() != 1 ||
            graph::structural_hash(*lowered.bodies[0]) != graph::structural_hash(*body))
            return false;
    }
    node = std::move(restored);
    return true;
}

const Context::Function* find_function(const Context& context, const NodeProto& node) {
    if (context.functions.empty()) return nullptr;
    const auto overload = newer_fields(node, 8);
    const std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
    const auto found = context.functions.find({domain, node.op_type(), overload.empty() ? "" : overload[0]});
    return found == context.functions.end() ? nullptr : &found->second;
}

Result<void> inline_function(Context& context, Scope& scope, const NodeProto& call,
                             const FunctionProto& function) {
    VIRIDIAN_TRY(check_call(context, call, function));
    const std::string name = call.name().empty() && call.output_size() > 0 ? call.output(0) : call.name();
    VIRIDIAN_TRY(Opsets opsets, check_opsets(function.opset_import(), context.model));
    if (opsets.empty()) opsets = scope.opsets;
    Scope inner{.graph = scope.graph,
                .values = {},
                .opsets = std::move(opsets),
                .prefix = scope.prefix + name + "/",
                .arguments = arguments_of(scope, call, function),
                .renamed = {},
                .part = part_of(context, scope, call)};
    for (int i = 0; i < function.input_size(); ++i) {
        VIRIDIAN_TRY(inner.values[function.input(i)],
                     i < call.input_size() ? find_value(scope, call.input(i), call) : Result(ValueId::none));
    }
    const auto callers_name = [&](const std::string& output) {
        const auto renamed = scope.renamed.find(output);
        return renamed == scope.renamed.end() ? scope.prefix + output : renamed->second;
    };
    for (int i = 0; i < call.output_size(); ++i)
        if (!call.output(i).empty()) inner.renamed[function.output(i)] = callers_name(call.output(i));

    context.active.push_back(&function);
    VIRIDIAN_TRY(import_nodes(context, inner, function.node()));
    context.active.pop_back();

    for (int i = 0; i < call.output_size(); ++i) {
        if (call.output(i).empty()) continue;
        const auto found = inner.values.find(function.output(i));
        if (found == inner.values.end() || found->second == ValueId::none)
            return fail(ErrorCode::malformed, "export the model again",
                        "nothing in function `{}` defines its output `{}`", function.name(),
                        function.output(i));
        ValueId value = found->second;
        if (const std::string wanted = callers_name(call.output(i));
            scope.graph.value(value).name != wanted) {
            graph::Node same;  // an input passed through: it keeps its name, the output gets its own
            same.op = graph::op::Identity;
            same.name = wanted;
            same.inputs = {value};
            same.phase = inner.part.phase;
            same.twin = inner.part.twin;
            const graph::NodeId id = scope.graph.add_node(std::move(same), std::span(&wanted, 1));
            VIRIDIAN_TRY(graph::infer_node_types(scope.graph, id));
            value = scope.graph.node(id).outputs[0];
        }
        scope.values[call.output(i)] = value;
    }
    return {};
}

}  // namespace viridian::onnx
