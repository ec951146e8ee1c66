#include "viridian/rewrite/fold_cache.hpp"

#include "viridian/base/hash.hpp"
#include "viridian/graph/evaluate.hpp"

namespace viridian::rewrite {

using graph::Graph;
using graph::Node;
using graph::Tensor;
using graph::ValueId;

namespace {

// The node by itself, reading constants of its own.
Graph alone(const Graph& graph, const Node& node) {
    Graph small;
    Node copy = node;
    for (ValueId& input : copy.inputs)
        if (input != ValueId::none) input = small.add_constant("c", *graph.constant(input));
    small.set_outputs(small.node(small.add_node(copy, node.outputs.size())).outputs);
    return small;
}

}  // namespace

Result<std::vector<Tensor>> evaluate_constants(const Graph& graph, const Node& node) {
    return graph::evaluate(alone(graph, node), std::vector<Tensor>());
}

Result<std::vector<Tensor>> FoldCache::evaluate(const Graph& graph, const Node& node) {
    const Graph small = alone(graph, node);
    const std::uint64_t key = structural_hash(small);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    VIRIDIAN_TRY(std::vector<Tensor> results, graph::evaluate(small, std::vector<Tensor>()));
    std::int64_t bytes = 0;
    for (const Tensor& tensor : results) bytes += tensor.byte_count();
    if (bytes_ + bytes <= most_bytes) {
        bytes_ += bytes;
        known_.emplace(key, results);
    }
    return results;
}

}  // namespace viridian::rewrite
