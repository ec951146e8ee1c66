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

// A WrittenState is a state as the metadata of a model names it.
struct WrittenState {
    std::string before, after;  // an input and an output
    graph::StateRole role = graph::StateRole::parameter;
    std::string of;  // the input `before` of another state, or empty
};

using FunctionKey = std::array<std::string, 3>;  // domain, name, overload

// A Context is the state of one model while it is read.
struct Context {
    std::string model;  // its name, for errors
    ExternalData external;
    Unsupported unsupported;
    // A Function is a function of the model.
    struct Function {
        const FunctionProto* proto = nullptr;
        std::int64_t size = 0;  // how many of `nodes_left` a call uses up
    };
    std::map<FunctionKey, Function> functions;
    std::vector<const FunctionProto*> active;  // functions being inlined, outermost first
    std::vector<WrittenState> states;
    std::int64_t nodes_left = 0;   // how many nodes may still be added
    Listener* listener = nullptr;  // may be null

    // Subtracts `nodes` from `nodes_left`. Errors: limit_exceeded if there were too few.
    [[nodiscard]] Result<void> spend(std::int64_t nodes);
};

// A Part says where in a training step a node belongs.
struct Part {
    graph::Phase phase = graph::Phase::forward;
    std::string twin = {};
};

using Opsets = std::map<std::string, std::int64_t, std::less<>>;  // by domain; "" is ai.onnx

// A Scope is the graph that nodes join, with the names that they can read.
struct Scope {
    graph::Graph& graph;
    std::unordered_map<std::string, graph::ValueId> values;  // every name that can be read here
    Opsets opsets;
    std::string prefix;  // of names, inside an inlined function: "call/"
    std::map<std::string, AttributeProto, std::less<>>
        arguments;                                         // the call's attributes, for `ref_attr_name`
    std::unordered_map<std::string, std::string> renamed;  // from a function's outputs to the caller's names
    Part part = {};                                        // of the call of an inlined function
};

// Returns the operator sets that a model or function imports.
[[nodiscard]] Opsets opsets_of(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports);

// Returns the tensor type of a value. A type that a graph cannot hold (a sequence, map, optional, sparse
// tensor or unknown element type) is added to `unsupported`, and the element type stays undefined. Errors:
// malformed for an impossible dimension, and those of graph::element_count.
[[nodiscard]] Result<graph::TensorType> import_type(Context& context, const ValueInfoProto& info);

// Reads the model in `bytes`. `file` is the mapped file that holds them, or null if they lie elsewhere.
// `external` gives the tensors stored outside `bytes`, `listener` may be null, and `name` stands for the
// model in errors. Errors: limit_exceeded above 2 GiB, and those of `load` for the content of a model.
[[nodiscard]] Result<graph::Graph> read_model(std::string_view bytes, std::string_view name,
                                              const LoadOptions& options, Listener* listener,
                                              ExternalData external, const MappedFile* file);

// Imports the main graph and moves the bytes of its initialisers out of `proto`. Errors: malformed, and
// those of import_constants and import_nodes.
[[nodiscard]] Result<graph::Graph> import_graph(Context& context, GraphProto& proto, Opsets opsets);

// Reads the text of the metadata `states_key`. Errors: malformed.
[[nodiscard]] Result<std::vector<WrittenState>> read_states(std::string_view text);
// Adds the states of `context` to the scope, with the types of the inputs that they are in `proto`. Errors:
// malformed if one is no input or its new value is no output, and those of import_type.
[[nodiscard]] Result<void> import_states(Context& context, Scope& scope, const GraphProto& proto);
// Gives the state `id` its first value. Errors: malformed if that has another type.
[[nodiscard]] Result<void> set_first_value(Scope& scope, graph::ValueId id, graph::Tensor tensor);
// Gives the states their new values, which the nodes of the scope define. Errors: malformed.
[[nodiscard]] Result<void> set_new_values(const Context& context, Scope& scope);

// Adds the initialisers of `proto` to the scope as constants, or as first values of its states. If `take` is
// true, their bytes may be moved out of `proto`. Errors: malformed for a missing or repeated name, and those
// of reading a tensor.
[[nodiscard]] Result<void> import_constants(Context& context, Scope& scope, GraphProto& proto, bool take);
// Adds `nodes` to the scope, producers before readers. Errors: those of node_order and import_node.
[[nodiscard]] Result<void> import_nodes(Context& context, Scope& scope, const Nodes& nodes);
// Returns the value of a name that the node `reader` reads; `none` for "". Errors: malformed if nothing
// defines it.
[[nodiscard]] Result<graph::ValueId> find_value(const Scope& scope, const std::string& name,
                                                const NodeProto& reader);
// Adds one node to the scope: as a node of its operator in its newest meaning, as a constant, or as the
// inlined nodes of a function. Operators that are not implemented are added to `context.unsupported`.
// Errors: malformed, limit_exceeded, mismatch.
[[nodiscard]] Result<void> import_node(Context& context, Scope& scope, const NodeProto& proto);

// Returns the attributes of a node, except its graphs. Attributes that a graph cannot hold (lists of graphs,
// lists of tensors, types) are added to `context.unsupported`. Errors: malformed, limit_exceeded.
[[nodiscard]] Result<graph::Attributes> import_attributes(Context& context, const Scope& scope,
                                                          const NodeProto& proto);
// Returns `attribute`, or, if it refers to an attribute of the enclosing function, the one that the call of
// that function gives; null if the call gives none.
[[nodiscard]] const AttributeProto* resolve(const Scope& scope, const AttributeProto& attribute);

// Imports the bodies of If, Loop or Scan. The values that they capture become further inputs of `node`.
// Errors: malformed for a wrong number of bodies, and those of find_value and of importing a graph.
[[nodiscard]] Result<void> import_bodies(Context& context, Scope& scope, const NodeProto& proto,
                                         graph::Node& node);

// Returns the function of the model that this node calls, or null.
[[nodiscard]] const Context::Function* find_function(const Context& context, const NodeProto& node);
// Restores an operator that Viridian exported as a function (`export_function`). If `function` is one of
// these, turns `node`, which has the inputs and attributes of `call`, into a node of that operator; otherwise
// returns false. Errors: malformed, and those of import_nodes.
[[nodiscard]] Result<bool> restore_operator(Context& context, Scope& scope, const NodeProto& call,
                                            const FunctionProto& function, graph::Node& node);
// Adds the nodes of `function` to the scope in place of the call. Errors: malformed (it calls itself, or
// the call does not fit), and those of import_nodes.
[[nodiscard]] Result<void> inline_function(Context& context, Scope& scope, const NodeProto& call,
                                           const FunctionProto& function);

// Returns the contents of every field `number` of `message`, in order. It is for length-delimited fields that
// the generated message classes are too old to know.
[[nodiscard]] std::vector<std::string> newer_fields(const google::protobuf::Message& message, int number);
// Returns the names of the nodes of the original network that `node` comes from, with their module path if
// the exporter wrote it: "layer1.0/conv1". `prefix` is the scope's prefix.
[[nodiscard]] std::vector<std::string> origin_of(const NodeProto& node, std::string_view prefix);
// Returns the part of `node`: what its metadata says, or else that of the scope. An unknown phase counts as
// forward, and the listener is told.
[[nodiscard]] Part part_of(const Context& context, const Scope& scope, const NodeProto& node);

}  // namespace viridian::onnx
