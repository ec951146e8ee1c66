#pragma once
// Writing, from a graph to messages: save.cpp → export_graph → export_node.
#include <map>
#include <set>
#include <unordered_set>

#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/proto.hpp"

namespace viridian::onnx {

// Where the bytes of large constants go instead of the model file. Null: nowhere.
class ConstantSink {
  public:
    virtual ~ConstantSink() = default;
    // True where it took the bytes and filled in `proto`.
    virtual Result<bool> take(const graph::Tensor& tensor, TensorProto& proto) = 0;
};

// One model being written.
struct Exporter {
    int opset = 17;
    GraphProto* root = nullptr;  // large constants of bodies go here, shared
    ConstantSink* sink = nullptr;
    std::unordered_set<std::string> names;  // of every value, nested graphs included
    std::unordered_set<std::string> node_names;
    std::map<std::pair<const std::byte*, std::string>, std::string> shared;  // bytes, type → name in `root`
    std::set<std::string> domains;

    [[nodiscard]] static std::string fresh(std::unordered_set<std::string>& taken, std::string name);
};

// Names of a graph's values, by ValueId; "" until given.
using ValueNames = std::vector<std::string>;

// The oldest operator set that can say the whole graph, bodies included; at least `opset`.
[[nodiscard]] int opset_for(const graph::Graph& graph, int opset);

[[nodiscard]] Result<void> export_main(Exporter& exporter, const graph::Graph& graph, GraphProto& out);

// Nodes of `graph` into `out`; `names` holds its inputs' names and, where wanted, its outputs'.
[[nodiscard]] Result<void> export_nodes(Exporter& exporter, const graph::Graph& graph, ValueNames& names,
                                        const std::string& prefix, GraphProto& out);
// A body that stands as an attribute: its first inputs explicit, the others captured under the names given.
[[nodiscard]] Result<void> export_body(Exporter& exporter, const graph::Graph& body,
                                       const std::vector<std::string>& captures, const std::string& prefix,
                                       GraphProto& out);
void export_attribute(const std::string& name, const graph::Attribute& value, AttributeProto& out);
void export_type(const graph::TensorType& type, TypeProto& out);

}  // namespace viridian::onnx
