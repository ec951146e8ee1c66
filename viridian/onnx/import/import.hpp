#pragma once
// Declares the steps that build a graph from ONNX's protobuf messages. There is one Context per model and
// one Scope per graph or inlined function. The files import_*.cpp hold one step each: load.cpp →
// import_graph → import_node → import_attribute, import_body, import_function.
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "viridian/onnx/import/name_flow.hpp"
#include "viridian/onnx/import/unsupported.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/tensors/external_data.hpp"

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
    Listener* listener = nullptr;

    // Subtracts `nodes` from `nodes_left`. Errors: limit_exceeded if there were too few.
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

// The tensor type of a value. A type that is not held is added to `unsupported` and becomes undefined.
// Errors: malformed for an impossible dimension.
[[nodiscard]] Result<graph::TensorType> import_type(Context& context, const ValueInfoProto& info);

// Reads the model in `bytes`, which lie in the mapped `file`, or elsewhere if it is null. `name` stands for
// the model in errors.
[[nodiscard]] Result<graph::Graph> read_model(std::string_view bytes, std::string_view name,
                                              const LoadOptions& options, Listener* listener,
                                              ExternalData external, const MappedFile* file);

// Imports the main graph and moves the bytes of its initialisers out of `proto`.
[[nodiscard]] Result<graph::Graph> import_graph(Context& context, GraphProto& proto, Opsets opsets);

// Adds the constants of `proto` to the scope. If `take`, their bytes may be moved out of `proto`.
[[nodiscard]] Result<void> import_constants(Context& context, Scope& scope, GraphProto& proto, bool take);
[[nodiscard]] Result<void> import_nodes(Context& context, Scope& scope, const Nodes& nodes);
// The value of a name that `reader` reads; `none` for "". Errors: malformed if nothing defines it.
[[nodiscard]] Result<graph::ValueId> find_value(const Scope& scope, const std::string& name,
                                                const NodeProto& reader);
[[nodiscard]] Result<void> import_node(Context& context, Scope& scope, const NodeProto& proto);

// The attributes of a node, except graphs. Errors: malformed, unsupported.
[[nodiscard]] Result<graph::Attributes> import_attributes(Context& context, const Scope& scope,
                                                          const NodeProto& proto);
// The attribute itself, or the attribute of the function's call to which it refers; null if the call has
// none.
[[nodiscard]] const AttributeProto* resolve(const Scope& scope, const AttributeProto& attribute);

// Imports the bodies of If, Loop or Scan. The values that they capture become further inputs of `node`.
[[nodiscard]] Result<void> import_bodies(Context& context, Scope& scope, const NodeProto& proto,
                                         graph::Node& node);

// The function of the model that this node calls, or null.
[[nodiscard]] const Context::Function* find_function(const Context& context, const NodeProto& node);
// If `function` stands for an operator of ours (`export_function` writes such), makes `node`, which has the
// call's inputs and attributes, a node of that operator, and returns true. Errors: malformed.
[[nodiscard]] Result<bool> restore_operator(Context& context, Scope& scope, const NodeProto& call,
                                            const FunctionProto& function, graph::Node& node);
[[nodiscard]] Result<void> inline_function(Context& context, Scope& scope, const NodeProto& call,
                                           const FunctionProto& function);

// The contents of a field that is newer than the message classes, in order, if its type is length-delimited.
[[nodiscard]] std::vector<std::string> newer_fields(const google::protobuf::Message& message, int number);
// The node's origin in the original network, qualified as far as the exporter says: "layer1.0/conv1".
[[nodiscard]] std::vector<std::string> origin_of(const NodeProto& node, std::string_view prefix);

}  // namespace viridian::onnx
