#pragma once
// Writes graphs into messages. The steps are in the files save.cpp → export_graph → export_node →
// export_function.
#include <map>
#include <set>
#include <unordered_set>

#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/proto.hpp"

namespace viridian::onnx {

// A ConstantSink receives the bytes of large constants that do not go into the model file.
class ConstantSink {
  public:
    virtual ~ConstantSink() = default;
    // Returns true if it took the bytes and filled in `proto`; otherwise they go into the model file.
    virtual Result<bool> take(const graph::Tensor& tensor, TensorProto& proto) = 0;
};

// Functions are the functions of one model. They say what its private operators mean, for readers that do
// not know them.
struct Functions {
    std::map<std::string, std::string> names;  // by operator and content
    std::set<std::string> taken;
    std::vector<FunctionProto> written;
};

// An Exporter is the state of one model while it is written.
struct Exporter {
    std::shared_ptr<Functions> functions = std::make_shared<Functions>();
    int opset = 17;
    GraphProto* root = nullptr;             // large constants of bodies go here, shared
    ConstantSink* sink = nullptr;           // null: every constant goes into the model file
    std::unordered_set<std::string> names;  // of every value, nested graphs included
    std::unordered_set<std::string> node_names;
    std::map<std::pair<const std::byte*, std::string>, std::string> shared;  // bytes, type → name in `root`
    std::set<std::string> domains;

    // Returns `name`, with a number behind it if that is in `taken`, and adds the result to `taken`.
    [[nodiscard]] static std::string fresh(std::unordered_set<std::string>& taken, std::string name);
};

// ValueNames are the names of the values of a graph, by ValueId; "" for a value that has no name yet.
using ValueNames = std::vector<std::string>;

// Returns the oldest operator set from `opset` on that can express the whole graph with its bodies.
[[nodiscard]] int opset_for(const graph::Graph& graph, int opset);

// Writes the main graph of a model into `out`. States become inputs with an initialiser, and outputs; the
// returned text says which, for the metadata `states_key`. It is empty if there are no states.
[[nodiscard]] Result<std::string> export_main(Exporter& exporter, const graph::Graph& graph, GraphProto& out);
// Writes the first values of the states as initialisers of the inputs of the same names.
[[nodiscard]] Result<void> export_first_values(Exporter& exporter, const graph::Graph& graph,
                                               const ValueNames& names, GraphProto& out);
// Returns the text for `states_key`; `after` are the names of the outputs that hold the new values.
[[nodiscard]] std::string text_of_states(const graph::Graph& graph, const ValueNames& names,
                                         const std::vector<std::string>& after);

// Writes the nodes of `graph` into `out`. `names` holds the names of its inputs and of those outputs that
// must have a certain name; `prefix` begins every new name.
[[nodiscard]] Result<void> export_nodes(Exporter& exporter, const graph::Graph& graph, ValueNames& names,
                                        const std::string& prefix, GraphProto& out);
// Writes the body of a node as a graph attribute. Its first inputs are explicit; the others are captured from
// the outer graph, where their names are `captures`.
[[nodiscard]] Result<void> export_body(Exporter& exporter, const graph::Graph& body,
                                       const std::vector<std::string>& captures, const std::string& prefix,
                                       GraphProto& out);
// Returns the operator of a function, in the domain `private_domain`, that says what `node` means: its one
// body, in operators of `exporter.opset`. The function is written once for all nodes of the same operator
// and body. It keeps `node.op` and the names of its attributes, so that our reader gets the node back.
// Errors: broken_invariant if the node does not fit its body.
[[nodiscard]] Result<graph::Operator> export_function(Exporter& exporter, const graph::Node& node);
void export_attribute(const std::string& name, const graph::Attribute& value, AttributeProto& out);
void export_type(const graph::TensorType& type, TypeProto& out);

// Writes a node Identity that gives the value `from` the name `to` as well.
void add_identity(const std::string& from, const std::string& to, GraphProto& out);

// Returns the bytes of the model. `sink` may take constants out of it; null takes none. Errors: those of
// `serialize`.
[[nodiscard]] Result<std::string> serialize_with(const graph::Graph& graph, const SaveOptions& options,
                                                 ConstantSink* sink);

}  // namespace viridian::onnx
