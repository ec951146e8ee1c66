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

// A value's hash is its producer's hash and its place among the outputs, so the whole is a Merkle hash of the
// expression of every output: numbering, names and dead nodes cannot enter.
class ValueHashes {
  public:
    explicit ValueHashes(const Graph& graph)
        : graph_(graph), values_(graph.value_count(), 0), nodes_(graph.node_slots(), Seen::unvisited) {
        for (const ValueId id : run_inputs(graph)) {
            Hash hash;
            hash.add("source").add(++sources_);
            add_type(hash, graph.value(id).type);
            values_[index(id)] = hash.value();
        }
    }

    // Returns the hash of a value, 0 of none; nothing if the value depends on itself.
    std::optional<std::uint64_t> of(ValueId root) {
        if (!enter(root)) return std::nullopt;
        while (!open_.empty()) {
            auto& [id, next] = open_.back();
            const Node& node = graph_.node(id);
            if (next < node.inputs.size()) {
                if (!enter(node.inputs[next++])) return std::nullopt;
                continue;
            }
            finish(node);
            nodes_[index(id)] = Seen::done;
            open_.pop_back();
        }
        return root == ValueId::none ? 0 : values_[index(root)];
    }

  private:
    enum class Seen : std::uint8_t { unvisited, on_stack, done };

    // Pushes the producer of a value, unless it was visited. Returns false if it is on the stack already: the
    // value then depends on itself.
    bool enter(ValueId id) {
        if (id == ValueId::none) return true;
        if (const Tensor* constant = graph_.constant(id))
            values_[index(id)] = Hash().add("constant").add(constant->content_hash()).value();
        if (graph_.producer(id) == nullptr) return true;
        const NodeId producer = graph_.value(id).producer;
        Seen& seen = nodes_[index(producer)];
        if (seen == Seen::unvisited) {
            open_.emplace_back(producer, 0);
            seen = Seen::on_stack;
            return true;
        }
        return seen == Seen::done;
    }

    void finish(const Node& node) {
        const std::uint64_t hash = node_hash(node, values_);
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            if (node.outputs[i] != ValueId::none)
                values_[index(node.outputs[i])] = Hash().add(hash).add(i).value();
    }

    const Graph& graph_;
    std::uint64_t sources_ = 0;
    std::vector<std::uint64_t> values_;
    std::vector<Seen> nodes_;
    std::vector<std::pair<NodeId, std::size_t>> open_;  // nodes, with the number of their next input
};

}  // namespace

std::uint64_t structural_hash(const Graph& graph) {
    ValueHashes hashes(graph);
    Hash whole;
    for (const ValueId id : run_outputs(graph)) {
        const std::optional<std::uint64_t> hash = hashes.of(id);
        if (!hash) return 0;
        whole.add(*hash);
    }
    return whole.value();
}

}  // namespace viridian::graph
