// Two precisions are a minimum cut (research: Stone 1977; docs/search.md, "Checked"): LEMON's, which shares
// nothing with our solver, must agree.
#include <gtest/gtest.h>
#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include "random_network.hpp"

namespace viridian::search {
namespace {

using graph::NodeId;
using graph::ValueId;

struct TwoLabels {
    tests::Network net;
    std::vector<double> high, low;  // seconds by node
    double down = 0, up = 0;        // of one cast
};

TwoLabels random_two_labels(Random& random, std::size_t nodes) {
    TwoLabels out;
    tests::Network& net = out.net;
    net.formats = {{plan::plain(4), graph::ElementType::f32, {}},
                   {plan::plain(4), graph::ElementType::f16, {}}};  // no safety class forbids it
    const graph::TensorType type{graph::ElementType::f32, graph::shape_of({1, 16, 4, 4})};
    std::vector<ValueId> values = {net.graph.add_input("x", type)};
    for (std::size_t n = 0; n < nodes; ++n) {
        std::vector<ValueId> inputs = {values[random.below(values.size())]};
        if (random.chance(0.6)) inputs.push_back(values[random.below(values.size())]);
        values.push_back(net.graph.add("Sum", inputs));
        net.graph.set_type(values.back(), type);
    }
    const graph::Uses before = graph::uses(net.graph);
    std::vector<ValueId> outputs;
    for (const ValueId v : values)
        if (net.graph.producer(v) != nullptr && before.count(v) == 0) outputs.push_back(v);
    net.graph.set_outputs(outputs);
    const graph::Uses uses = graph::uses(net.graph);
    for (const NodeId id : net.graph.nodes()) {
        net.regions.push_back(plan::make_region(net.graph, uses, {id}));
        const plan::Region& region = net.regions.back();
        out.high.push_back(random.uniform(0.5, 1.5));
        out.low.push_back(random.uniform(0.1, 1.2));
        for (const std::size_t label : {0, 1}) {
            plan::Choice choice;
            choice.kernel = label == 0 ? "f32" : "bf16";
            choice.inputs.assign(region.inputs.size(), net.formats[label]);
            choice.outputs.assign(region.outputs.size(), net.formats[label]);
            const double seconds = label == 0 ? out.high.back() : out.low.back();
            net.choices[{id}].push_back({choice, tests::price(seconds, 0)});
        }
    }
    out.down = random.uniform(0.05, 0.6);
    out.up = random.uniform(0.05, 0.6);
    net.conversions[{text(net.formats[0]), text(net.formats[1])}] = tests::price(out.down, 0);
    net.conversions[{text(net.formats[1]), text(net.formats[0])}] = tests::price(out.up, 0);
    return out;
}

// Source side: low. A cast is paid once per value, however many readers share it: an auxiliary vertex each
// way.
double min_cut(const TwoLabels& problem) {
    using Digraph = lemon::SmartDigraph;
    constexpr double never = 1e9;
    Digraph digraph;
    Digraph::ArcMap<double> capacity(digraph);
    const auto arc = [&](Digraph::Node a, Digraph::Node b, double c) { capacity[digraph.addArc(a, b)] = c; };
    const Digraph::Node source = digraph.addNode(), target = digraph.addNode();
    const graph::Graph& g = problem.net.graph;
    std::vector<Digraph::Node> vertex(g.node_slots(), lemon::INVALID);
    for (const NodeId id : g.nodes()) {
        vertex[index(id)] = digraph.addNode();
        arc(source, vertex[index(id)], problem.high[index(id)]);
        arc(vertex[index(id)], target, problem.low[index(id)]);
    }
    const Digraph::Node outside = digraph.addNode();  // the graph's inputs and outputs: always f32
    arc(outside, target, never);
    const graph::Uses uses = graph::uses(g);
    for (std::size_t i = 0; i < g.value_count(); ++i) {
        const auto v = static_cast<ValueId>(i);
        const Digraph::Node writer = g.producer(v) == nullptr ? outside : vertex[index(g.value(v).producer)];
        const Digraph::Node lowered = digraph.addNode(), raised = digraph.addNode();
        arc(lowered, writer, problem.down);
        arc(writer, raised, problem.up);
        const auto reader = [&](Digraph::Node r) {
            arc(r, lowered, never);
            arc(raised, r, never);
        };
        for (const NodeId id : uses.readers(v)) reader(vertex[index(id)]);
        if (uses.outputs(v) > 0) reader(outside);
    }
    lemon::Preflow<Digraph, Digraph::ArcMap<double>> flow(digraph, capacity, source, target);
    flow.runMinCut();
    return flow.flowValue();
}

TEST(MinCut, agrees_on_two_precisions) {
    int mixed = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        Random random(seed);
        const TwoLabels problem = random_two_labels(random, 3 + random.below(25));
        const auto found = tests::assigned(problem.net, Objective{});
        ASSERT_TRUE(found.ok()) << found.error().text();
        EXPECT_NEAR(found->value, min_cut(problem), 1e-6) << "seed " << seed;
        EXPECT_EQ(found->gap(), 0);
        std::size_t low = 0;
        for (const auto& assigned : found->regions) low += assigned.choice.kernel == "bf16" ? 1 : 0;
        mixed += low > 0 && low < found->regions.size() ? 1 : 0;
    }
    EXPECT_GT(mixed, 200);
}

}  // namespace
}  // namespace viridian::search
