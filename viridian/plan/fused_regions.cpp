// Candidates for regions with several results.
#include <algorithm>
#include <numeric>
#include <set>

#include "viridian/movement/fusion.hpp"
#include "viridian/plan/region.hpp"

namespace viridian::plan {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;

// Which regions lie on or behind a cycle of the graph in which each region, and each other node, is one node.
std::vector<bool> on_cycles(const Graph& graph, const std::vector<Region>& regions) {
    std::vector<std::size_t> group(graph.node_slots());  // first those of regions, then other nodes
    std::iota(group.begin(), group.end(), regions.size());
    for (std::size_t r = 0; r < regions.size(); ++r)
        for (const NodeId id : regions[r].nodes) group[index(id)] = r;
    std::vector<std::set<std::size_t>> readers(regions.size() + group.size());
    std::vector<std::size_t> waiting(readers.size());
    for (const NodeId id : graph.nodes())
        for (const ValueId input : graph.node(id).inputs) {
            if (input == ValueId::none || graph.producer(input) == nullptr) continue;
            const std::size_t from = group[index(graph.value(input).producer)], to = group[index(id)];
            if (from != to && readers[from].insert(to).second) ++waiting[to];
        }
    std::vector<std::size_t> open;
    for (std::size_t g = 0; g < waiting.size(); ++g)
        if (waiting[g] == 0) open.push_back(g);
    std::vector<bool> left(regions.size(), true);
    while (!open.empty()) {
        const std::size_t g = open.back();
        open.pop_back();
        if (g < left.size()) left[g] = false;
        for (const std::size_t reader : readers[g])
            if (--waiting[reader] == 0) open.push_back(reader);
    }
    return left;
}

// A graph whose ids ascend in topological order, as those of a graph from a file do, so that a saved plan
// finds its regions again; and the order, in ids of the original.
struct Ordered {
    Graph graph;
    std::vector<NodeId> slots, nodes;  // node nodes[i] of the original is node slots[i] here

    static Result<Ordered> of(const Graph& graph) {
        VIRIDIAN_TRY(std::vector<NodeId> nodes, topological_order(graph));
        Ordered made{graph, nodes, nodes};
        std::ranges::sort(made.slots);
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (nodes[i] != made.slots[i]) made.graph.set_node(made.slots[i], graph.node(nodes[i]));
        return made;
    }
};

// The regions of several nodes that movement::fuse() finds, each in topological order.
Result<std::vector<Region>> fused_regions(const Graph& graph) {
    VIRIDIAN_TRY(const Ordered ordered, Ordered::of(graph));
    VIRIDIAN_TRY(const movement::Fusion fusion,
                 movement::fuse(ordered.graph, movement::FusionRule::published));
    const graph::Uses uses = graph::uses(graph);
    std::vector<Region> regions;
    for (const movement::Region& fused : fusion.regions) {
        if (fused.nodes.size() < 2 || fused.loops.empty()) continue;
        std::vector<NodeId> slots = fused.nodes, nodes;
        std::ranges::sort(slots);
        for (const NodeId slot : slots)
            nodes.push_back(ordered.nodes[static_cast<std::size_t>(
                std::ranges::lower_bound(ordered.slots, slot) - ordered.slots.begin())]);
        regions.push_back(make_region(graph, uses, std::move(nodes)));
    }
    return regions;
}

}  // namespace

// If each remaining fused region is contracted to one node, the graph has no cycle. A path through a chain is
// a path through its nodes, so chains add none. The statistics of a batch are the exception: they are results
// of a chain that do not depend on all that it reads.
Result<std::vector<Region>> candidate_regions(const Graph& graph) {
    VIRIDIAN_TRY(std::vector<Region> regions, chain_regions(graph));
    const std::vector<NodeId> nodes = graph.nodes();
    const auto makes_statistics = [&](NodeId id) {
        return graph.node(id).op == graph::op::BatchNormalizationTraining;
    };
    if (std::ranges::any_of(nodes, makes_statistics)) return regions;
    VIRIDIAN_TRY(std::vector<Region> fused, fused_regions(graph));
    for (;;) {
        const std::vector<bool> left = on_cycles(graph, fused);
        const auto last = std::find(left.rbegin(), left.rend(), true);
        if (last == left.rend()) break;
        fused.erase(fused.begin() + (left.rend() - last - 1));
    }
    std::set<std::vector<NodeId>> known;
    for (const Region& region : regions) known.insert(region.nodes);
    for (Region& region : fused)
        if (!known.contains(region.nodes)) regions.push_back(std::move(region));
    return regions;
}

}  // namespace viridian::plan
