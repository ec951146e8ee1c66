#include "viridian/base/hash.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::graph {
namespace {

struct AddAttribute {
    Hash& hash;
    void operator()(std::int64_t number) const { hash.add(number); }
    void operator()(double number) const { hash.add(number); }
    void operator()(const std::string& text) const { hash.add(text); }
    void operator()(const Tensor& tensor) const { hash.add(tensor.content_hash()); }
    template <class T>
    void operator()(const std::vector<T>& list) const {
        hash.add(list.size());
        for (const T& item : list) (*this)(item);
    }
};

void add_type(Hash& hash, const TensorType& type) {
    hash.add(static_cast<int>(type.element)).add(type.shape ? type.shape->size() + 1 : 0);
    if (!type.shape) return;
    for (const Dimension& dimension : *type.shape) hash.add(dimension.value()).add(dimension.symbol());
}

std::uint64_t node_hash(const Node& node, const std::vector<std::uint64_t>& values) {
    Hash hash;
    hash.add(node.op.domain()).add(node.op.name()).add(node.outputs.size());
    for (const auto& [key, attribute] : node.attributes) {
        hash.add(key).add(attribute.index());
        std::visit(AddAttribute{hash}, attribute);
    }
    for (const auto& body : node.bodies) hash.add(structural_hash(*body));
    for (const ValueId input : node.inputs) hash.add(input == ValueId::none ? 0 : values[index(input)]);
    return hash.value();
}

}  // namespace

// A value's hash is its producer's hash and its place among the outputs, so the whole is a Merkle hash of the
// expression of every output: numbering, names and dead nodes cannot enter.
std::uint64_t structural_hash(const Graph& graph) {
    std::vector<std::uint64_t> values(graph.value_count(), 0);
    std::uint64_t position = 0;
    const auto add_source = [&](ValueId id) {
        Hash hash;
        hash.add("source").add(++position);
        add_type(hash, graph.value(id).type);
        values[index(id)] = hash.value();
    };
    for (const ValueId id : graph.inputs()) add_source(id);
    for (const State& state : graph.states()) add_source(state.before);
    for (std::size_t i = 0; i < graph.value_count(); ++i)
        if (const Tensor* constant = graph.constant(static_cast<ValueId>(i)))
            values[i] = Hash().add("constant").add(constant->content_hash()).value();

    const auto order = topological_order(graph);
    if (!order.ok()) return 0;
    for (const NodeId id : *order) {
        const Node& node = graph.node(id);
        const std::uint64_t hash = node_hash(node, values);
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            if (node.outputs[i] != ValueId::none)
                values[index(node.outputs[i])] = Hash().add(hash).add(i).value();
    }
    Hash whole;
    for (const ValueId id : graph.outputs()) whole.add(id == ValueId::none ? 0 : values[index(id)]);
    for (const State& state : graph.states())
        whole.add(state.after == ValueId::none ? 0 : values[index(state.after)]);
    return whole.value();
}

}  // namespace viridian::graph
