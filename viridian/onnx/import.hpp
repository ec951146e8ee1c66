#pragma once
// Reading, from messages to a graph. One Context per model, one Scope per graph or inlined function; the
// files import_*.cpp hold one step each: load.cpp → import_graph → import_node → import_attribute,
// import_body, import_function.
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "viridian/onnx/external_data.hpp"
#include "viridian/onnx/name_flow.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/unsupported.hpp"

namespace viridian::onnx {

using FunctionKey = std::array<std::string, 3>;  // domain, name, overload

struct Context {
    std::string model;  // its name, for errors
    ExternalData external;
    Unsupported unsupported;
    struct Function {
        const FunctionProto* proto = nullptr;
        std::int64_t size = 0;  // what a call costs of `nodes_left`
    };
    std::map<FunctionKey, Function> functions;
    std::vector<const FunctionProto*> active;  // functions being inlined, outermost first
    std::int64_t nodes_left = 0;

    // Errors: limit_exceeded once the model has used up its nodes.
    [[nodiscard]] Result<void> spend(std::int64_t nodes);
};

using Opsets = std::map<std::string, std::int64_t, std::less<>>;  // by domain; "" is ai.onnx

struct Scope {
    graph::Graph& graph;
    std::unordered_map<std::string, graph::ValueId> values;  // every name that can be read here
    Opsets opsets;
    std::string prefix;  // of names, inside an inlined function: "call/"
    std::map<std::string, AttributeProto, std::less<>>
        arguments;                                         // the call's attributes, for `ref_attr_name`
    std::unordered_map<std::string, std::string> renamed;  // a function's outputs by the caller's names
};

[[nodiscard]] Opsets opsets_of(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports);

// A tensor type; what is not one goes to `unsupported` and comes back undefined. Errors: malformed
// (dimensions).
[[nodiscard]] Result<graph::TensorType> import_type(Context& context, const ValueInfoProto& info);

// The whole main graph; takes the bytes of its initialisers.
[[nodiscard]] Result<graph::Graph> import_graph(Context& context, GraphProto& proto, Opsets opsets);

// Constants of `proto` join the scope. `take`: their bytes may be moved out.
[[nodiscard]] Result<void> import_constants(Context& context, Scope& scope, GraphProto& proto, bool take);
[[nodiscard]] Result<void> import_nodes(Context& context, Scope& scope, const Nodes& nodes);
// The value behind a name; `none` for "". Errors: malformed.
[[nodiscard]] Result<graph::ValueId> find_value(const Scope& scope, const std::string& name,
                                                const NodeProto& reader);
[[nodiscard]] Result<void> import_node(Context& context, Scope& scope, const NodeProto& proto);

// Attributes without bodies. Errors: malformed, unsupported.
[[nodiscard]] Result<graph::Attributes> import_attributes(Context& context, const Scope& scope,
                                                          const NodeProto& proto);
// The attribute itself, or what the function's call gives for it; null where the call gives nothing.
[[nodiscard]] const AttributeProto* resolve(const Scope& scope, const AttributeProto& attribute);

// Bodies of If, Loop, Scan; what they capture becomes further inputs of `node`.
[[nodiscard]] Result<void> import_bodies(Context& context, Scope& scope, const NodeProto& proto,
                                         graph::Node& node);

// The model's own function for this node, or null.
[[nodiscard]] const Context::Function* find_function(const Context& context, const NodeProto& node);
[[nodiscard]] Result<void> inline_function(Context& context, Scope& scope, const NodeProto& call,
                                           const FunctionProto& function);

// Reading fields that are newer than the message classes.
[[nodiscard]] std::vector<std::string> newer_fields(const google::protobuf::Message& message, int number);
// Where the node came from, qualified as far as the exporter says: "layer1.0/conv1".
[[nodiscard]] std::vector<std::string> origin_of(const NodeProto& node, std::string_view prefix);

}  // namespace viridian::onnx
