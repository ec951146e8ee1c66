#include "viridian/search/graphs/neighbourhood_hash.hpp"

#include <algorithm>

#include "viridian/base/hash.hpp"

namespace viridian::search {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

struct AddAttribute {
    Hash& hash;
    void operator()(const graph::Tensor& tensor) const { hash.add(text(tensor.tensor_type())); }
    template <class T>
    void operator()(const std::vector<T>& list) const {
        hash.add(list.size());
        for (const T& item : list) hash.add(item);
    }
    template <class T>
    void operator()(const T& item) const {
        hash.add(item);
    }
};

std::uint64_t colour(const Graph& graph, const Node& node) {
    Hash hash;
    hash.add(node.op.domain()).add(node.op.name());
    for (const auto& [key, attribute] : node.attributes) {
        hash.add(key).add(attribute.index());
        std::visit(AddAttribute{hash}, attribute);
    }
    for (const ValueId input : node.inputs) {
        hash.add(input == ValueId::none);
        if (input != ValueId::none)
            hash.add(graph.constant(input) != nullptr).add(text(graph.value(input).type));
    }
    for (const ValueId output : node.outputs)
        hash.add(output == ValueId::none ? std::string() : text(graph.value(output).type));
    return hash.value();
}

}  // namespace

std::vector<std::uint64_t> neighbourhood_hashes(const Graph& graph, const graph::Uses& uses, int steps) {
    std::vector<std::uint64_t> colours(graph.node_slots(), 0);
    const std::vector<NodeId> nodes = graph.nodes();
    for (const NodeId id : nodes) colours[index(id)] = colour(graph, graph.node(id));
    for (int step = 0; step < steps; ++step) {
        std::vector<std::uint64_t> next(colours.size(), 0);
        for (const NodeId id : nodes) {
            Hash hash;
            hash.add(colours[index(id)]);
            for (const ValueId input : graph.node(id).inputs)
                hash.add(graph.producer(input) == nullptr ? std::uint64_t{0}
                                                          : colours[index(graph.value(input).producer)]);
            std::vector<std::uint64_t> readers;
            for (const ValueId output : graph.node(id).outputs) {
                if (output == ValueId::none) continue;
                hash.add(uses.outputs(output));
                for (const NodeId reader : uses.readers(output)) readers.push_back(colours[index(reader)]);
            }
            std::sort(readers.begin(), readers.end());
            for (const std::uint64_t reader : readers) hash.add(reader);
            next[index(id)] = hash.value();
        }
        colours = std::move(next);
    }
    return colours;
}

}  // namespace viridian::search
