#include "viridian/plan/region.hpp"

#include <algorithm>
#include <unordered_set>

#include "viridian/graph/operators/row.hpp"

namespace viridian::plan {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OperatorClass;
using graph::Uses;
using graph::ValueId;

bool contains(const std::vector<NodeId>& nodes, NodeId id) {
    return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
}

// Operators whose output may share memory with an input, or the other way round, under some choice.
bool may_alias(const Node& node) {
    const auto* row = graph::find_operator(node);
    return row == nullptr || row->operator_class == OperatorClass::movement || !node.bodies.empty();
}

bool precedes(const Graph& graph, NodeId earlier, const std::vector<NodeId>& later) {
    std::unordered_set<std::size_t> seen;
    std::vector<NodeId> open = later;
    while (!open.empty()) {
        const NodeId id = open.back();
        open.pop_back();
        for (const ValueId input : graph.node(id).inputs) {
            if (graph.producer(input) == nullptr) continue;
            const NodeId producer = graph.value(input).producer;
            if (producer == earlier) return true;
            if (seen.insert(index(producer)).second) open.push_back(producer);
        }
    }
    return false;
}

// Nobody reads `id` after these nodes, whatever formats, views and order are chosen.
bool dies_in(const Graph& graph, const Uses& uses, ValueId id, const std::vector<NodeId>& nodes) {
    const Node* producer = graph.producer(id);
    if (producer == nullptr || may_alias(*producer) || uses.outputs(id) > 0) return false;
    const auto readers = uses.readers(id);
    return std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
        return contains(nodes, reader) || (!may_alias(graph.node(reader)) && precedes(graph, reader, nodes));
    });
}

template <class T>
void add_once(std::vector<T>& list, T item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

// Whether the outputs after the first are statistics of a batch; readers of these do not end a chain.
bool makes_statistics(const Node& node) { return node.op == graph::op::BatchNormalizationTraining; }

// Where a chain may go from `id`: the only reader of its only used output, statistics left out.
std::optional<NodeId> only_reader(const Graph& graph, const Uses& uses, NodeId id) {
    std::optional<NodeId> next;
    const Node& node = graph.node(id);
    for (const ValueId output : node.outputs) {
        if (output == ValueId::none) continue;
        if (output != node.outputs[0] && makes_statistics(node)) continue;
        if (uses.outputs(output) > 0) return std::nullopt;
        for (const NodeId reader : uses.readers(output)) {
            if (next && *next != reader) return std::nullopt;
            next = reader;
        }
    }
    return next;
}

OperatorClass class_of(const Graph& graph, NodeId id) {
    const auto* row = graph::find_operator(graph.node(id));
    return row == nullptr ? OperatorClass::control : row->operator_class;
}

// Whether a value is made, in any number of steps, from the statistics of a batch.
bool depends_on_statistics(const Graph& graph, ValueId value) {
    std::unordered_set<std::size_t> seen;
    std::vector<ValueId> open = {value};
    while (!open.empty()) {
        const ValueId id = open.back();
        open.pop_back();
        const Node* producer = id == ValueId::none ? nullptr : graph.producer(id);
        if (producer == nullptr || !seen.insert(index(id)).second) continue;
        if (makes_statistics(*producer) && id != producer->outputs[0]) return true;
        open.insert(open.end(), producer->inputs.begin(), producer->inputs.end());
    }
    return false;
}

// Whether appending `next` could make regions depend on their own outputs: a node of `next` reads, other than
// through the chain, a value that depends on the statistics of a batch.
bool may_form_cycle(const Graph& graph, const std::vector<NodeId>& chain, const std::vector<NodeId>& next) {
    const auto normalises = [&](NodeId id) { return makes_statistics(graph.node(id)); };
    if (std::none_of(chain.begin(), chain.end(), normalises)) return false;
    return std::any_of(next.begin(), next.end(), [&](NodeId id) {
        const auto& inputs = graph.node(id).inputs;
        return std::any_of(inputs.begin(), inputs.end(), [&](ValueId input) {
            const bool inside =
                input != ValueId::none && graph.producer(input) != nullptr &&
                (contains(chain, graph.value(input).producer) || contains(next, graph.value(input).producer));
            const bool result = inside && input == graph.node(graph.value(input).producer).outputs[0];
            return !result && depends_on_statistics(graph, input);
        });
    });
}

// x·f(x): where `id`'s value has two readers, a product and a short way to its other factor that nobody else
// reads, these nodes and the product last.
std::vector<NodeId> gate(const Graph& graph, const Uses& uses, NodeId id) {
    constexpr std::size_t longest = 2;  // Sigmoid after a scale; Tanh after Softplus
    const Node& node = graph.node(id);
    if (node.outputs.size() != 1 || uses.outputs(node.outputs[0]) > 0) return {};
    const auto readers = uses.readers(node.outputs[0]);
    if (readers.size() != 2 || readers[0] == readers[1]) return {};
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
        const NodeId product = readers[1 - first];
        if (graph.node(product).op != graph::op::Mul) continue;
        std::vector<NodeId> way = {readers[first]};
        while (way.size() <= longest && class_of(graph, way.back()) == OperatorClass::elementwise) {
            const auto next = only_reader(graph, uses, way.back());
            if (!next) break;
            way.push_back(*next);
            if (*next == product) return way;
        }
    }
    return {};
}

// What a chain that ends in `id` takes up next: the only reader, or a gate.
std::vector<NodeId> continuation(const Graph& graph, const Uses& uses, NodeId id) {
    if (const auto next = only_reader(graph, uses, id)) return {*next};
    return gate(graph, uses, id);
}

// Attention that begins with the product `head`: element-wise steps, a Softmax, those of a dropout, and the
// product with the values, each the only reader of the node before. Empty if there is none.
std::vector<NodeId> attention(const Graph& graph, const Uses& uses, NodeId head) {
    if (graph.node(head).op != graph::op::MatMul) return {};
    std::vector<NodeId> chain = {head};
    bool softmax = false;
    while (const auto next = only_reader(graph, uses, chain.back())) {
        const Node& node = graph.node(*next);
        const ValueId before = graph.node(chain.back()).outputs[0];
        chain.push_back(*next);
        if (node.op == graph::op::MatMul)
            return softmax && node.inputs[0] == before && node.inputs[1] != before ? chain
                                                                                   : std::vector<NodeId>();
        if (node.op == graph::op::Softmax ? softmax : class_of(graph, *next) != OperatorClass::elementwise)
            break;
        softmax = softmax || node.op == graph::op::Softmax;
    }
    return {};
}

}  // namespace

Region make_region(const Graph& graph, const Uses& uses, std::vector<NodeId> nodes) {
    Region region;
    region.nodes = std::move(nodes);
    for (const NodeId id : region.nodes)
        for (const ValueId input : graph.node(id).inputs) {
            if (input == ValueId::none) continue;
            if (graph.constant(input) != nullptr)
                add_once(region.constants, input);
            else if (graph.producer(input) == nullptr || !contains(region.nodes, graph.value(input).producer))
                add_once(region.inputs, input);
        }
    for (const NodeId id : region.nodes)
        for (const ValueId output : graph.node(id).outputs) {
            if (output == ValueId::none) continue;
            const auto readers = uses.readers(output);
            if (uses.outputs(output) > 0 || std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
                    return !contains(region.nodes, reader);
                }))
                region.outputs.push_back(output);
        }
    for (const ValueId input : region.inputs)
        region.dies.push_back(dies_in(graph, uses, input, region.nodes));
    return region;
}

Result<std::vector<Region>> chain_regions(const Graph& graph, std::size_t longest) {
    VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(graph));
    const Uses uses = graph::uses(graph);
    std::vector<Region> regions;
    for (const NodeId id : order) regions.push_back(make_region(graph, uses, {id}));

    for (std::size_t length = 2; length <= longest; ++length)
        for (const NodeId head : order) {
            if (std::vector<NodeId> whole = attention(graph, uses, head); whole.size() == length)
                regions.push_back(make_region(graph, uses, std::move(whole)));
            std::vector<NodeId> chain = {head};
            const OperatorClass head_class = class_of(graph, head);
            int others = head_class == OperatorClass::elementwise ? 0 : 1;
            if (head_class == OperatorClass::control || head_class == OperatorClass::movement) continue;
            while (chain.size() < length) {
                const std::vector<NodeId> next = continuation(graph, uses, chain.back());
                if (next.empty()) break;
                const OperatorClass next_class = class_of(graph, next[0]);
                if (next_class == OperatorClass::normalization)
                    ++others;
                else if (next_class != OperatorClass::elementwise)
                    break;
                if (others > 1 || may_form_cycle(graph, chain, next)) break;
                chain.insert(chain.end(), next.begin(), next.end());
            }
            if (chain.size() == length) regions.push_back(make_region(graph, uses, std::move(chain)));
        }
    return regions;
}

namespace {

// What a node does in one run: what its operator says, or the body of a fused one. How often a loop's body
// runs is not known before, so that it counts as nothing.
double flop(const Graph& graph, NodeId id) {
    const graph::Node& node = graph.node(id);
    if (!node.bodies.empty()) {
        const graph::OperatorRow* row = graph::find_operator(node);
        if (node.bodies.size() != 1 || (row != nullptr && row->operator_class == OperatorClass::control))
            return 0;
        double sum = 0;
        for (const NodeId part : node.bodies[0]->nodes()) sum += flop(*node.bodies[0], part);
        return sum;
    }
    if (find_operator(node) == nullptr || node.output(0) == ValueId::none) return 0;
    std::vector<graph::TensorType> inputs, outputs;
    bool known = true;  // what a node does not read or make has no type
    const auto add = [&](ValueId v, std::vector<graph::TensorType>& to) {
        to.push_back(v == ValueId::none ? graph::TensorType{} : graph.value(v).type);
        known = known && (v == ValueId::none || to.back().known());
    };
    for (const ValueId v : node.inputs) add(v, inputs);
    for (const ValueId v : node.outputs) add(v, outputs);
    return known ? static_cast<double>(graph::flop({node, inputs, outputs}).value) : 0;
}

}  // namespace

double flop(const Graph& graph, const Region& region) {
    double sum = 0;
    for (const NodeId id : region.nodes) sum += flop(graph, id);
    return sum;
}

}  // namespace viridian::plan
