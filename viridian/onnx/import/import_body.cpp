// Nested graphs see the names around them; here they see nothing but explicit inputs. What a body captures
// becomes an input of the node and of the body; captured constants are shared into the body instead.
#include <algorithm>
#include <unordered_set>

#include "viridian/onnx/import/import.hpp"

namespace viridian::onnx {
namespace {

using graph::ElementType;
using graph::ValueId;

// The body's own inputs; where their types are left out, the node's inputs tell the element.
Result<void> import_inputs(Context& context, Scope& scope, const GraphProto& proto, const Scope& outer,
                           const graph::Node& node) {
    for (int i = 0; i < proto.input_size(); ++i) {
        const ValueInfoProto& input = proto.input(i);
        VIRIDIAN_TRY(graph::TensorType type, import_type(context, input));
        if (const ValueId given = node.input(static_cast<std::size_t>(i));
            type.element == ElementType::undefined && given != ValueId::none)
            type.element = outer.graph.value(given).type.element;
        if (node.op == graph::op::Loop && i < 2)
            type = {i == 0 ? ElementType::i64 : ElementType::boolean, graph::Shape{}};
        if (scope.values.contains(input.name()))
            return fail(ErrorCode::malformed, "export the model again", "`{}` is defined twice",
                        input.name());
        scope.values[input.name()] = scope.graph.add_input(input.name(), std::move(type));
    }
    return {};
}

using Captures = std::vector<std::pair<std::string, ValueId>>;

// `shapes`: captured values keep theirs; else only their element types.
Result<std::shared_ptr<const graph::Graph>> import_body(Context& context, Scope& outer,
                                                        const graph::Node& node, const NodeProto& proto,
                                                        const GraphProto& written, const Captures& captures,
                                                        bool shapes) {
    graph::Graph body;
    body.name = written.name();
    Scope scope{.graph = body,
                .values = {},
                .opsets = outer.opsets,
                .prefix = {},
                .arguments = outer.arguments,
                .renamed = {}};
    VIRIDIAN_TRY(import_inputs(context, scope, written, outer, node));
    GraphProto constants;  // a copy: the message is shared when a function is inlined twice
    *constants.mutable_initializer() = written.initializer();
    *constants.mutable_sparse_initializer() = written.sparse_initializer();
    const std::vector<std::string> names = free_names(written);
    const std::unordered_set<std::string_view> own(names.begin(), names.end());
    for (const auto& [name, id] :
         captures) {                // those that only the other branch reads are inputs all the same
        if (id == ValueId::none) {  // an input that a function's caller left out
            if (own.contains(name)) scope.values[name] = ValueId::none;
            continue;
        }
        const graph::Tensor* constant = outer.graph.constant(id);
        if (constant == nullptr) {
            graph::TensorType type = outer.graph.value(id).type;
            if (!shapes) type.shape.reset();
            const ValueId input = body.add_input(name, std::move(type));
            if (own.contains(name)) scope.values[name] = input;
        } else if (own.contains(name)) {
            scope.values[name] = body.add_constant(name, *constant);
        }
    }
    VIRIDIAN_TRY(import_constants(context, scope, constants, true));
    VIRIDIAN_TRY(import_nodes(context, scope, written.node()));
    std::vector<ValueId> outputs;
    for (const ValueInfoProto& output : written.output()) {
        VIRIDIAN_TRY(const ValueId id, find_value(scope, output.name(), proto));
        if (id == ValueId::none)
            return fail(ErrorCode::malformed, "export the model again",
                        "an output of a body of node {} is left out", name_of(proto));
        outputs.push_back(id);
    }
    body.set_outputs(std::move(outputs));
    return std::shared_ptr<const graph::Graph>(std::make_shared<graph::Graph>(std::move(body)));
}

}  // namespace

Result<void> import_bodies(Context& context, Scope& scope, const NodeProto& proto, graph::Node& node) {
    std::vector<const AttributeProto*> graphs;
    for (const AttributeProto& written : proto.attribute())
        if (const AttributeProto* attribute = resolve(scope, written);
            attribute != nullptr && attribute->has_g())
            graphs.push_back(attribute);
    if (graphs.size() != (node.op == graph::op::If ? 2U : 1U))
        return fail(ErrorCode::malformed, "export the model again", "node {} has {} bodies", name_of(proto),
                    graphs.size());
    std::sort(graphs.begin(), graphs.end(), [](const auto* a, const auto* b) {
        return (a->name() == "then_branch") > (b->name() == "then_branch");  // If: then, else
    });
    Captures captures;
    std::unordered_set<std::string> seen;
    for (const AttributeProto* attribute : graphs)
        for (const std::string& name : free_names(attribute->g())) {
            VIRIDIAN_TRY(const ValueId id, find_value(scope, name, proto));
            if (seen.insert(name).second) captures.emplace_back(name, id);
        }
    const graph::Node outside = node;  // without captures, for the types of the body's own inputs
    for (const AttributeProto* attribute : graphs) {
        auto body = import_body(context, scope, outside, proto, attribute->g(), captures, true);
        // The branch that is not taken need not fit the shapes outside.
        if (!body.ok() && body.error().code == ErrorCode::mismatch && node.op == graph::op::If) {
            VIRIDIAN_TRY(context.spend(static_cast<std::int64_t>(attribute->g().ByteSizeLong() / 64)));
            body = import_body(context, scope, outside, proto, attribute->g(), captures, false);
        }
        if (!body.ok()) return std::move(body).error();
        node.bodies.push_back(std::move(body).value());
    }
    std::int64_t count = 0;
    for (const auto& [name, id] : captures)
        if (id != ValueId::none && scope.graph.constant(id) == nullptr) {
            node.inputs.push_back(id);
            ++count;
        }
    node.attributes.erase("captures");
    if (node.op != graph::op::If) node.attributes["captures"] = count;
    return {};
}

}  // namespace viridian::onnx
