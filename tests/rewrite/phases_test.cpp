#include <gtest/gtest.h>

#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::rewrite {
namespace {

namespace op = graph::op;

// The node that defines the value `name`.
const Node& node_of(const Graph& graph, std::string_view name) {
    for (const NodeId id : graph.nodes())
        for (const ValueId output : graph.node(id).outputs)
            if (output != ValueId::none && graph.value(output).name == name) return graph.node(id);
    ADD_FAILURE() << "no node defines " << name;
    static const Node none;
    return none;
}

class Phased {
  public:
    Graph graph;
    ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({3, 4})});

    ValueId add(Phase phase, graph::Operator op, std::vector<ValueId> inputs, std::string name,
                std::string twin = {}, Attributes attributes = {}) {
        Node node;
        node.op = std::move(op);
        node.name = std::move(name);
        node.inputs = std::move(inputs);
        node.attributes = std::move(attributes);
        node.phase = phase;
        node.twin = std::move(twin);
        return graph.node(graph.add_node(std::move(node))).outputs[0];
    }
    Graph simplified(std::vector<ValueId> outputs) {
        graph.set_outputs(std::move(outputs));
        EXPECT_TRUE(infer_types(graph).ok());
        const auto done = simplify(graph, {.without = {}, .verify = true});
        EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().text());
        return graph;
    }
};

// Two transpositions in a row become one new node.
TEST(Phases, ANewNodeHasThePhaseAndTwinOfTheValueThatItTakesOver) {
    Phased p;
    const ValueId f = p.add(Phase::forward, op::Tanh, {p.x}, "f");
    const ValueId a = p.add(Phase::backward, op::Transpose, {f}, "a", "first", {{"perm", Dims{1, 0}}});
    const ValueId r = p.add(Phase::backward, op::Reshape,
                            {a, p.graph.add_constant("c", Tensor::i64({3}, Dims{2, 2, 3}))}, "r", "second");
    const ValueId s = p.add(Phase::weight, op::Reshape,
                            {r, p.graph.add_constant("c", Tensor::i64({1}, Dims{12}))}, "s", "third");
    const ValueId out = p.add(Phase::update, op::Sin, {s}, "out", "fourth");
    const Graph done = p.simplified({out});
    ASSERT_EQ(done.nodes().size(), 4U);
    const Node& reshape = *done.producer(node_of(done, "out").inputs[0]);
    EXPECT_EQ(reshape.op, op::Reshape);
    EXPECT_EQ(reshape.phase, Phase::weight);
    EXPECT_EQ(reshape.twin, "third");
    EXPECT_EQ(node_of(done, "a").phase, Phase::backward);
    EXPECT_EQ(node_of(done, "f").phase, Phase::forward);
}

// The gradient computes f again: the one that stays is forward, whoever comes first in the list.
TEST(Phases, ACommonValueIsComputedInTheEarliestPhase) {
    for (const bool backward_first : {false, true}) {
        Phased p;
        const auto twice = [&](bool backward) {
            return backward ? p.add(Phase::backward, op::Sigmoid, {p.x}, "b", "f")
                            : p.add(Phase::forward, op::Sigmoid, {p.x}, "f");
        };
        const ValueId one = twice(backward_first);
        const ValueId two = twice(!backward_first);
        const ValueId sum = p.add(Phase::forward, op::Sin, {backward_first ? two : one}, "sum");
        const ValueId gradient =
            p.add(Phase::backward, op::Cos, {backward_first ? one : two}, "gradient", "sum");
        const Graph done = p.simplified({sum, gradient});
        ASSERT_EQ(done.nodes().size(), 3U);
        const Node& kept = *done.producer(node_of(done, "sum").inputs[0]);
        EXPECT_EQ(kept.phase, Phase::forward) << backward_first;
        EXPECT_EQ(kept.twin, "");
        EXPECT_EQ(node_of(done, "gradient").phase, Phase::backward);
        EXPECT_EQ(node_of(done, "gradient").twin, "sum");
    }
}

// The inner one of two new nodes has the phase of its reader.
TEST(Phases, AnInnerNodeFollowsItsReader) {
    Phased p;
    const ValueId f = p.add(Phase::forward, op::Sin, {p.x}, "f");
    const ValueId g = p.add(Phase::weight, op::Cos, {f}, "g", "f");
    p.graph.set_outputs({g});
    ASSERT_TRUE(infer_types(p.graph).ok());
    const graph::Uses uses = graph::uses(p.graph);
    Editor editor(p.graph, uses);
    editor.at(p.graph.value(g).producer);
    editor.replace(g, editor.add(op::Neg, {editor.add(op::Exp, {f})}));
    std::vector<std::string> removed;
    const Graph after = std::move(editor).finish(removed);
    const Node& outer = node_of(after, "g");
    const Node& inner = *after.producer(outer.inputs[0]);
    EXPECT_EQ(outer.op, op::Neg);
    EXPECT_EQ(outer.phase, Phase::weight);
    EXPECT_EQ(inner.op, op::Exp);
    EXPECT_EQ(inner.phase, Phase::weight);
    EXPECT_EQ(inner.twin, "f");
    EXPECT_EQ(after.producer(inner.inputs[0])->phase, Phase::forward);
}

TEST(Phases, NoNodeComesBeforeWhatItReads) {
    Phased p;
    const ValueId f = p.add(Phase::forward, op::Sin, {p.x}, "f");
    const ValueId g = p.add(Phase::backward, op::Cos, {p.x}, "g", "other");
    p.graph.set_outputs({p.add(Phase::update, op::Mul, {f, g}, "h", "f")});
    ASSERT_TRUE(infer_types(p.graph).ok());
    const graph::Uses uses = graph::uses(p.graph);
    Editor editor(p.graph, uses);
    editor.at(p.graph.value(f).producer);
    editor.replace(f, editor.add(op::Neg, {g}));  // a forward value, made from a gradient
    std::vector<std::string> removed;
    const Graph after = std::move(editor).finish(removed);
    const Node& fresh = *after.producer(node_of(after, "h").inputs[0]);
    EXPECT_EQ(fresh.op, op::Neg);
    EXPECT_EQ(fresh.phase, Phase::backward);
    EXPECT_EQ(fresh.twin, "other");
}

}  // namespace
}  // namespace viridian::rewrite
