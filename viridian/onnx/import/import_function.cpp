// Model functions are inlined where they are called: their nodes join the caller's graph under the call's
// name.
#include <algorithm>

#include "viridian/graph/infer.hpp"
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

}  // namespace

const Context::Function* find_function(const Context& context, const NodeProto& node) {
    if (context.functions.empty()) return nullptr;
    const auto overload = newer_fields(node, 8);
    const std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
    const auto found = context.functions.find({domain, node.op_type(), overload.empty() ? "" : overload[0]});
    return found == context.functions.end() ? nullptr : &found->second;
}

Result<void> inline_function(Context& context, Scope& scope, const NodeProto& call,
                             const FunctionProto& function) {
    if (std::find(context.active.begin(), context.active.end(), &function) != context.active.end() ||
        context.active.size() > 64)
        return fail(ErrorCode::malformed, "export the model again", "function `{}` calls itself",
                    function.name());
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
        return fail(ErrorCode::malformed, "export the model again",
                    "node {} gives function `{}` {} inputs and {} outputs; it has {} and {}", name_of(call),
                    function.name(), call.input_size(), call.output_size(), function.input_size(),
                    function.output_size());
    const std::string name = call.name().empty() && call.output_size() > 0 ? call.output(0) : call.name();
    VIRIDIAN_TRY(Opsets opsets, check_opsets(function.opset_import(), context.model));
    if (opsets.empty()) opsets = scope.opsets;
    Scope inner{.graph = scope.graph,
                .values = {},
                .opsets = std::move(opsets),
                .prefix = scope.prefix + name + "/",
                .arguments = arguments_of(scope, call, function),
                .renamed = {}};
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
            const graph::NodeId id = scope.graph.add_node(std::move(same), std::span(&wanted, 1));
            VIRIDIAN_TRY(graph::infer_node_types(scope.graph, id));
            value = scope.graph.node(id).outputs[0];
        }
        scope.values[call.output(i)] = value;
    }
    return {};
}

}  // namespace viridian::onnx
