#pragma once
// Writes graphs into messages. The steps are in the files save.cpp → export_graph → export_node.
#include <map>
#include <set>
#include <unordered_set>

#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/proto.hpp"

namespace viridian::onnx {

// Receives the bytes of large constants that do not go into the model file.
class ConstantSink {
  public:
    virtual ~ConstantSink() = default;
    // True if it took the bytes and filled in `proto`; otherwise they go into the model file.
    virtual Result<bool> take(const graph::Tensor& tensor, TensorProto& proto) = 0;
};

// The state of one model while it is written.
struct Exporter {
    int opset = 17;
    GraphProto* root = nullptr;             // large constants of bodies go here, shared
    ConstantSink* sink = nullptr;           // null: every constant goes into the model file
    std::unordered_set<std::string> names;  // of every value, nested graphs included
    std::unordered_set<std::string> node_names;
    std::map<std::pair<const std::byte*, std::string>, std::string> shared;  // bytes, type → name in `root`
    std::set<std::string> domains;

    [[nodiscard]] static std::string fresh(std::unordered_set<std::string>& taken, std::string name);
};

// The names of a graph's values, by ValueId; "" for a value that has no name yet.
using ValueNames = std::vector<std::string>;

// The oldest operator set from `opset` on that can express the whole graph with its bodies.
[[nodiscard]] int opset_for(const graph::Graph& graph, int opset);

[[nodiscard]] Result<void> export_main(Exporter& exporter, const graph::Graph& graph, GraphProto& out);

// Writes the nodes of `graph` into `out`. `names` holds the names of its inputs and of those outputs that
// must have a certain name.
[[nodiscard]] Result<void> export_nodes(Exporter& exporter, const graph::Graph& graph, ValueNames& names,
                                        const std::string& prefix, GraphProto& out);
// Writes the body of a node as a graph attribute. Its first inputs are explicit; the others are captured from
// the outer graph, where their names are `captures`.
[[nodiscard]] Result<void> export_body(Exporter& exporter, const graph::Graph& body,
                                       const std::vector<std::string>& captures, const std::string& prefix,
                                       GraphProto& out);
void export_attribute(const std::string& name, const graph::Attribute& value, AttributeProto& out);
void export_type(const graph::TensorType& type, TypeProto& out);

}  // namespace viridian::onnx
