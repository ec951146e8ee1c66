#include "viridian/movement/fusion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viridian/graph/infer.hpp"

namespace viridian::movement {
namespace {

using graph::Attributes;
using graph::Dims;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;
using testing::ElementsAre;
namespace op = graph::op;

// A graph under construction, with nodes named by the test.
struct Net {
    Graph graph;

    ValueId input(const std::string& name, const Dims& dims) {
        return graph.add_input(name, {graph::ElementType::f32, graph::shape_of(dims)});
    }
    ValueId axes(const Dims& values) {
        return graph.add_constant("axes", Tensor::i64({static_cast<std::int64_t>(values.size())}, values));
    }
    ValueId weight(const Dims& dims) {
        return graph.add_constant("weight", Tensor(graph::ElementType::f32, dims));
    }
    ValueId add(graph::KnownOperator op, const std::string& name, std::vector<ValueId> inputs,
                Attributes attributes = {}) {
        return graph.add(op, std::move(inputs), std::move(attributes), name);
    }
    ValueId sum(const std::string& name, ValueId x, const Dims& over, bool keep = true) {
        return add(op::ReduceSum, name, {x, axes(over)}, {{"keepdims", std::int64_t{keep}}});
    }

    // The regions that were found: names of nodes, joined by "+".
    std::vector<std::string> regions(std::vector<ValueId> outputs, FusionRule rule = FusionRule::published,
                                     std::int64_t fast_words = usual_fast_words) {
        graph.set_outputs(std::move(outputs));
        EXPECT_TRUE(graph::infer_types(graph).ok());
        const auto fusion = fuse(graph, rule, fast_words);
        EXPECT_TRUE(fusion.ok());
        found = *fusion;
        std::vector<std::string> texts;
        for (const Region& region : fusion->regions) {
            std::string text;
            for (const graph::NodeId id : region.nodes)
                text += (text.empty() ? "" : "+") + graph.node(id).name;
            texts.push_back(text);
        }
        return texts;
    }
    Fusion found;
};

TEST(Fusion, JoinsOperatorsOfOneSpace) {
    Net net;
    const ValueId x = net.input("x", {4, 6}), a = net.add(op::Relu, "a", {x}), b = net.add(op::Exp, "b", {a});
    EXPECT_THAT(net.regions({b}), ElementsAre("a+b"));
    EXPECT_EQ(words_of(net.graph, net.found.regions[0]).moved(), 48);  // a's result is not stored
    EXPECT_THAT(net.regions({b}, FusionRule::none), ElementsAre("a", "b"));
}

TEST(Fusion, StoresWhatOthersRead) {
    Net net;
    const ValueId x = net.input("x", {4, 6}), a = net.add(op::Relu, "a", {x}), b = net.add(op::Exp, "b", {a});
    const ValueId y = net.add(op::MatMul, "c", {a, net.weight({6, 2})});
    EXPECT_THAT(net.regions({b, y}), ElementsAre("a+b", "c"));
    EXPECT_EQ(words_of(net.graph, net.found.regions[0]).written, 48);
}

TEST(Fusion, JoinsAReductionBeforeAndAfter) {
    Net net;
    const ValueId x = net.input("x", {4, 6}), a = net.add(op::Relu, "a", {x}), s = net.sum("s", a, {1});
    const ValueId b = net.add(op::Div, "b", {a, s});
    EXPECT_THAT(net.regions({b}), ElementsAre("a+s+b"));
    EXPECT_TRUE(net.found.regions[0].loops[1].reduced);
    EXPECT_FALSE(net.found.regions[0].loops[0].reduced);
}

// Both sums are of type f32[6], and only the axes tell that they sum over different loops.
TEST(Fusion, TellsAxesOfEqualExtentApart) {
    for (const bool same : {true, false}) {
        Net net;
        const ValueId x = net.input("x", {6, 6}), a = net.add(op::Relu, "a", {x});
        const ValueId s = net.sum("s", a, {1}, false), t = net.sum("t", a, {same ? 1 : 0}, false);
        if (same)
            EXPECT_THAT(net.regions({s, t}), ElementsAre("a+s+t"));
        else
            EXPECT_THAT(net.regions({s, t}), ElementsAre("a+s", "t"));
    }
}

// A sum over rows is added along rows: as vectors of one type, but along the loop that was reduced.
TEST(Fusion, FollowsWhereAReducedVectorIsUsed) {
    Net net;
    const ValueId x = net.input("x", {6, 6}), s = net.sum("s", x, {1}, false);
    const ValueId b = net.add(op::Add, "b", {x, s});  // s runs along the columns of x
    EXPECT_THAT(net.regions({b}), ElementsAre("s", "b"));
    Net kept;
    const ValueId y = kept.input("x", {6, 6}), t = kept.sum("s", y, {1});
    const ValueId c = kept.add(op::Add, "b", {y, t});
    EXPECT_THAT(kept.regions({c}), ElementsAre("s+b"));
}

TEST(Fusion, LooksThroughTranspositionsAndNotThroughSplitAxes) {
    Net net;
    const ValueId x = net.input("x", {6, 6}), a = net.add(op::Relu, "a", {x});
    const ValueId turned = net.add(op::Transpose, "turn", {a}, {{"perm", Dims{1, 0}}});
    const ValueId s = net.sum("s", turned, {0}), t = net.sum("t", a, {1});  // both over the columns of x
    EXPECT_THAT(net.regions({s, t}), ElementsAre("a+s+t"));
    Net split;
    const ValueId y = split.input("x", {6, 6}), b = split.add(op::Relu, "a", {y});
    const ValueId parts = split.add(op::Reshape, "split", {b, split.axes({6, 2, 3})});
    EXPECT_THAT(split.regions({split.add(op::Exp, "b", {parts})}), ElementsAre("a", "b"));
}

// b reads a at its place and transposed: no loop over the elements of one has those of the other.
TEST(Fusion, RefusesTwoOrdersOfOneTensor) {
    Net net;
    const ValueId x = net.input("x", {6, 6}), a = net.add(op::Relu, "a", {x});
    const ValueId turned = net.add(op::Transpose, "turn", {a}, {{"perm", Dims{1, 0}}});
    EXPECT_THAT(net.regions({net.add(op::Add, "b", {a, turned})}), ElementsAre("a", "b"));
}

TEST(Fusion, JoinsSiblingsThatReadOneTensor) {
    Net net;
    const ValueId x = net.input("x", {4, 6}), a = net.add(op::Relu, "a", {x}), b = net.add(op::Exp, "b", {x});
    EXPECT_THAT(net.regions({a, b}), ElementsAre("a+b"));
    EXPECT_EQ(words_of(net.graph, net.found.regions[0]).read, 24);  // x is read once
}

TEST(Fusion, JoinsSiblingsThatReadAStackedTensor) {
    Net net;
    const ValueId x = net.input("x", {4, 6}), bias = net.weight({2});
    std::vector<ValueId> sums;
    for (const char* name : {"q", "k", "v"})
        sums.push_back(net.add(
            op::Add, name, {net.add(op::MatMul, std::string(name) + "m", {x, net.weight({6, 2})}), bias}));
    EXPECT_THAT(net.regions(sums), ElementsAre("qm", "km", "vm", "q+k+v"));
}

TEST(Fusion, SharesOutermostLoopsInPart) {
    Net net;
    const ValueId x = net.input("x", {4, 6, 5}), s = net.sum("s", x, {2});
    const ValueId b = net.add(op::Mul, "b", {net.input("z", {4, 6, 7}), s});
    EXPECT_THAT(net.regions({b}), ElementsAre("s+b"));
    EXPECT_EQ(net.found.regions[0].shared_loops, 2U);
    Net reduced;  // the loop over rows is one that s reduces
    const ValueId y = reduced.input("x", {4, 5}), t = reduced.sum("s", y, {0});
    EXPECT_THAT(reduced.regions({reduced.add(op::Softmax, "b", {reduced.add(op::Add, "c", {y, t})})}),
                ElementsAre("s+c", "b"));
}

TEST(Fusion, NeverReadsItsResultThroughAnotherRegion) {
    Net net;
    const ValueId x = net.input("x", {4, 6}), a = net.add(op::Relu, "a", {x});
    const ValueId m = net.add(op::MatMul, "m", {a, net.weight({6, 6})});
    EXPECT_THAT(net.regions({net.add(op::Add, "b", {a, m})}), ElementsAre("a", "m", "b"));
}

TEST(Fusion, KeepsForwardAndBackwardApart) {
    Net net;
    const ValueId x = net.input("x", {4, 6}), a = net.add(op::Relu, "a", {x});
    const ValueId g = net.add(op::Exp, "g", {x});
    graph::Node node = net.graph.node(net.graph.value(g).producer);
    node.phase = graph::Phase::backward;
    net.graph.set_node(net.graph.value(g).producer, node);
    EXPECT_THAT(net.regions({a, g}), ElementsAre("a", "g"));
}

TEST(FreeFusion, JoinsAContractionWithWhatReadsIt) {
    Net net;
    const ValueId m = net.add(op::MatMul, "m", {net.input("x", {4, 6}), net.weight({6, 5})});
    const ValueId a = net.add(op::Add, "a", {m, net.weight({5})}), s = net.add(op::Softmax, "s", {a});
    EXPECT_THAT(net.regions({s}, FusionRule::free), ElementsAre("m+a+s"));
    EXPECT_EQ(words_of(net.graph, net.found.regions[0]).moved(), 24 + 30 + 5 + 20);
    EXPECT_THAT(net.regions({s}, FusionRule::published), ElementsAre("m", "a+s"));
}

// Attention: of each of 2 x 8 rows a pass keeps 10 scores three times, and the 10 x 4 values of its head.
TEST(FreeFusion, KeepsAnOperandThatFitsIntoFastMemory) {
    Net net;
    const ValueId q = net.input("q", {2, 8, 4}), k = net.input("k", {2, 4, 10}),
                  v = net.input("v", {2, 10, 4});
    const ValueId scores = net.add(op::MatMul, "scores", {q, k}),
                  scaled = net.add(op::Neg, "scale", {scores});
    const ValueId y = net.add(op::MatMul, "y", {net.add(op::Softmax, "softmax", {scaled}), v});
    constexpr std::int64_t needed = 3 * 10 + 10 * 4;
    EXPECT_THAT(net.regions({y}, FusionRule::free, needed), ElementsAre("scores+scale+softmax+y"));
    EXPECT_EQ(net.found.regions[0].shared_loops, 2U);
    EXPECT_EQ(words_of(net.graph, net.found.regions[0]).moved(), 64 + 80 + 80 + 64);  // q, k, v and y
    EXPECT_THAT(net.regions({y}, FusionRule::free, needed - 1), ElementsAre("scores+scale+softmax", "y"));
}

TEST(FreeFusion, StacksContractionsOfOneOperand) {
    Net net;
    const ValueId x = net.input("x", {4, 6});
    std::vector<ValueId> parts;
    for (const char* name : {"q", "k"}) parts.push_back(net.add(op::MatMul, name, {x, net.weight({6, 5})}));
    EXPECT_THAT(net.regions(parts, FusionRule::free), ElementsAre("q+k"));
    EXPECT_EQ(words_of(net.graph, net.found.regions[0]).read, 24 + 2 * 30);  // x is read once
}

// The sum of two products is one product over both of their summed axes.
TEST(FreeFusion, AddsProductsInPlace) {
    Net net;
    const ValueId a = net.add(op::MatMul, "a", {net.input("x", {4, 6}), net.weight({6, 5})});
    const ValueId b = net.add(op::MatMul, "b", {net.input("y", {4, 7}), net.weight({7, 5})});
    EXPECT_THAT(net.regions({net.add(op::Add, "sum", {a, b})}, FusionRule::free), ElementsAre("a+b+sum"));
    EXPECT_EQ(words_of(net.graph, net.found.regions[0]).written, 20);
}

// A Gemm reads its first operand turned: its rows are what the Relu before it has as columns.
TEST(FreeFusion, KnowsWhichAxisOfAGemmIsSummed) {
    for (const bool turned : {false, true}) {
        Net net;
        const ValueId a = net.add(op::Relu, "a", {net.input("x", {6, 6})});
        const ValueId m = net.add(op::Gemm, "m", {a, net.weight({6, 6}), net.weight({6})},
                                  {{"transA", std::int64_t{turned}}});
        if (turned)  // the outermost loop of the one is the summed loop of the other
            EXPECT_THAT(net.regions({m}, FusionRule::free), ElementsAre("a", "m"));
        else
            EXPECT_THAT(net.regions({m}, FusionRule::free), ElementsAre("a+m"));
    }
}

}  // namespace
}  // namespace viridian::movement
