// Regions with several results, as candidates beside chains.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "viridian/base/random.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/plan/region.hpp"

namespace viridian::plan {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;
using testing::Contains;

graph::TensorType f32_of(const graph::Dims& dims) { return {graph::ElementType::f32, graph::shape_of(dims)}; }

// Whether the regions, which cover the graph, can run one after the other.
bool can_run(const Graph& graph, const std::vector<Region>& cover) {
    std::map<NodeId, std::size_t> group;
    for (std::size_t r = 0; r < cover.size(); ++r)
        for (const NodeId id : cover[r].nodes) group[id] = r;
    std::vector<std::set<std::size_t>> sources(cover.size());
    for (const NodeId id : graph.nodes())
        for (const ValueId input : graph.node(id).inputs)
            if (graph.producer(input) != nullptr)
                sources[group[id]].insert(group[graph.value(input).producer]);
    std::vector<bool> done(cover.size());
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t r = 0; r < cover.size(); ++r) {
            if (done[r] || std::ranges::any_of(sources[r], [&](std::size_t s) { return s != r && !done[s]; }))
                continue;
            done[r] = changed = true;
        }
    }
    return std::ranges::count(done, false) == 0;
}

// A cover by random candidates that do not overlap, and single nodes.
std::vector<Region> random_cover(const Graph& graph, Random& random, std::size_t& fused) {
    const auto candidates = candidate_regions(graph);
    EXPECT_TRUE(candidates.ok());
    std::vector<Region> all = *candidates, cover;
    for (std::size_t i = all.size(); i > 1; --i)
        std::swap(all[i - 1], all[static_cast<std::size_t>(random.between(0, static_cast<int>(i) - 1))]);
    std::stable_partition(all.begin(), all.end(),
                          [](const Region& region) { return region.nodes.size() > 1; });
    std::set<NodeId> covered;
    for (const Region& region : all) {
        if (std::ranges::any_of(region.nodes, [&](NodeId id) { return covered.contains(id); })) continue;
        if (region.nodes.size() > 1 && random.chance(0.3)) continue;
        covered.insert(region.nodes.begin(), region.nodes.end());
        fused += region.outputs.size() > 1 ? 1 : 0;
        cover.push_back(region);
    }
    return cover;
}

// Element-wise nodes, products, sums over rows that become single numbers or rows again, and views.
Graph random_dag(Random& random) {
    Graph graph;
    const graph::Dims dims = {6, 8};
    const ValueId weight = graph.add_constant("w", graph::Tensor(graph::ElementType::f32, {8, 8}));
    const ValueId rows = graph.add_constant("axis", graph::Tensor::i64({1}, std::vector<std::int64_t>{0}));
    const ValueId both = graph.add_constant("axes", graph::Tensor::i64({2}, std::vector<std::int64_t>{0, 1}));
    const ValueId turned =
        graph.add_constant("turned", graph::Tensor::i64({2}, std::vector<std::int64_t>{6, 8}));
    std::vector<ValueId> whole = {graph.add_input("x", f32_of(dims)), graph.add_input("y", f32_of(dims))};
    const auto any = [&] {
        return whole[static_cast<std::size_t>(random.between(0, static_cast<int>(whole.size()) - 1))];
    };
    for (int i = 0; i < 14; ++i) {
        switch (random.between(0, 6)) {
            case 0:
                whole.push_back(graph.add("MatMul", {any(), weight}));
                break;
            case 1:
                whole.push_back(graph.add("Mul", {any(), graph.add("ReduceSum", {any(), rows})}));
                break;
            case 2:
                whole.push_back(
                    graph.add("Add", {any(), graph.add("Sigmoid", {graph.add("ReduceSum", {any(), both})})}));
                break;
            case 3:
                whole.push_back(graph.add("Reshape", {any(), turned}));
                break;
            case 4:
                whole.push_back(graph.add("Tanh", {any()}));
                break;
            default:
                whole.push_back(graph.add("Add", {any(), any()}));
        }
    }
    graph.set_outputs({whole.back(), whole[whole.size() - 2], any()});
    remove_dead_nodes(graph);
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

TEST(FusedRegions, AnyOfThemCanBeChosenTogether) {
    std::size_t fused = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Random random(seed);
        const Graph graph = random_dag(random);
        for (int cover = 0; cover < 4; ++cover)
            ASSERT_TRUE(can_run(graph, random_cover(graph, random, fused))) << seed;
    }
    EXPECT_GT(fused, 100U);  // regions of several results
}

// Two pairs of nodes, each of which needs a result of the other pair.
TEST(FusedRegions, TwoRegionsThatNeedEachOtherMakeNoCycle) {
    Graph graph;
    const ValueId s = graph.add_input("s", f32_of({6, 8})), t = graph.add_input("t", f32_of({6, 8}));
    const ValueId w = graph.add_constant("w", graph::Tensor(graph::ElementType::f32, {8, 8}));
    const ValueId a = graph.add("Relu", {t}), m = graph.add("MatMul", {a, w});
    const ValueId tanh = graph.add("Tanh", {s}), p = graph.add("Mul", {s, m});
    const ValueId q = graph.add("MatMul", {tanh, w}), z = graph.add("Add", {a, q});
    graph.set_outputs({p, z});
    ASSERT_TRUE(infer_types(graph).ok());
    std::size_t fused = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Random random(seed);
        EXPECT_TRUE(can_run(graph, random_cover(graph, random, fused)));
    }
}

TEST(FusedRegions, AResidualIsReadByItsNormalisationAndByOthers) {
    Graph graph;
    const ValueId x = graph.add_input("x", f32_of({6, 8})), y = graph.add_input("y", f32_of({6, 8}));
    const ValueId sum = graph.add("Add", {x, y}, {}, "sum");
    const ValueId scale = graph.add_constant("scale", graph::Tensor(graph::ElementType::f32, {8}));
    const ValueId norm = graph.add("LayerNormalization", {sum, scale}, {}, "norm");
    graph.set_outputs({norm, sum});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto candidates = candidate_regions(graph);
    ASSERT_TRUE(candidates.ok());
    std::vector<std::vector<NodeId>> nodes;
    for (const Region& region : *candidates) nodes.push_back(region.nodes);
    EXPECT_THAT(nodes, Contains(graph.nodes()));
}

std::set<std::vector<std::string>> names_of(const Graph& graph) {
    std::set<std::vector<std::string>> all;
    const auto found = candidate_regions(graph);
    EXPECT_TRUE(found.ok());
    for (const Region& region : *found) {
        std::vector<std::string> names;
        for (const NodeId id : region.nodes) names.push_back(graph.node(id).name);
        all.insert(names);
    }
    return all;
}

// The graph with its nodes in other slots, in the order in which a file has them.
TEST(FusedRegions, DoNotDependOnIds) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Random random(seed);
        const Graph graph = random_dag(random);
        const std::vector<NodeId> order = *topological_order(graph);
        Graph other = graph;
        std::vector<graph::Node> nodes;
        for (const NodeId id : order) nodes.push_back(graph.node(id));
        // From the last slot on, so that ids descend along every edge.
        std::vector<NodeId> slots = graph.nodes();
        std::ranges::reverse(slots);
        for (std::size_t i = 0; i < slots.size(); ++i) other.set_node(slots[i], nodes[i]);
        const std::vector<NodeId> back = *topological_order(other);
        Graph file = other;
        std::ranges::sort(slots);
        for (std::size_t i = 0; i < slots.size(); ++i) file.set_node(slots[i], other.node(back[i]));
        EXPECT_EQ(names_of(other), names_of(file)) << seed;
    }
}

}  // namespace
}  // namespace viridian::plan
