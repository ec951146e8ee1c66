// What every guard is there for: graphs that look like a rule's left side and must be left alone.
#include <gtest/gtest.h>

#include <functional>

#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::rewrite {
namespace {

struct Case {
    const char* rule;
    const char* why;
    std::function<Graph(RandomGraph&)> build;
    ElementType type = ElementType::f32;
};

Graph twice(RandomGraph& g, const char* first, double c, const char* second, double d) {
    return g.finish({g.add(second, {g.add(first, {g.input({2, 3}), g.scalar(c)}), g.scalar(d)})});
}

Graph scaled_after(RandomGraph& g, double weight, double factor) {
    return g.finish(
        {g.add("Mul", {g.add("MatMul", {g.input({2, 3}), g.filled({3, 2}, weight)}), g.scalar(factor)})});
}

Graph scaled_before(RandomGraph& g, double factor, const char* op, ValueId w) {
    const bool conv = std::string_view(op) == "Conv";
    const ValueId x = g.input(conv ? Dims{1, 3, 2, 2} : Dims{2, 3});
    return g.finish({g.add(op, {g.add("Mul", {x, g.scalar(factor)}), w})});
}

// Two rows of [2, 5], cut at a and b, joined along `axis`.
Graph rows(RandomGraph& g, std::int64_t a, std::int64_t b, std::int64_t axis) {
    std::vector<ValueId> both;
    for (const std::int64_t cut : {a, b})
        both.push_back(
            g.add("Concat", {g.input({2, cut}), g.input({2, 5 - cut})}, {{"axis", std::int64_t{1}}}));
    return g.finish({g.add("Concat", both, {{"axis", axis}})});
}

ValueId conv(RandomGraph& g, ValueId x, Dims weights, Attributes attributes = {}) {
    return g.add("Conv", {x, g.constant(weights)}, std::move(attributes));
}

// exp(x − max over `first`) / Σ over `second`; where `first` is empty, nothing is subtracted.
Graph softmax(RandomGraph& g, const Dims& first, const Dims& second) {
    const ValueId x = g.input({2, 3, 4});
    const ValueId shifted = first.empty() ? x : g.add("Sub", {x, g.add("ReduceMax", {x, g.integers(first)})});
    const ValueId powers = g.add("Exp", {shifted});
    return g.finish({g.add("Div", {powers, g.add("ReduceSum", {powers, g.integers(second)})})});
}

// Neg, then `op` on samples along axis 0 of {2, 3, 4}, then Neg: one node alone is not worth splitting.
Case mixes(const char* why, std::function<ValueId(RandomGraph&, ValueId)> op, Dims dims = {2, 3, 4}) {
    return {"split_batch", why, [op = std::move(op), dims](RandomGraph& g) {
                return g.finish({g.add("Neg", {op(g, g.add("Neg", {g.input(dims)}))})});
            }};
}

const std::vector<Case> cases = {
    mixes("softmax over the samples",
          [](RandomGraph& g, ValueId x) { return g.add("Softmax", {x}, {{"axis", std::int64_t{-3}}}); }),
    mixes("samples that go behind",
          [](RandomGraph& g, ValueId x) { return g.add("Transpose", {x}, {{"perm", Dims{1, 0, 2}}}); }),
    mixes("rows that samples share",
          [](RandomGraph& g, ValueId x) { return g.add("Reshape", {x, g.integers({3, 8})}); }),
    mixes("samples that are summed over",
          [](RandomGraph& g, ValueId x) { return g.add("MatMul", {g.constant({5, 2}), x}); }, {2, 3}),
    mixes("a transposed product",
          [](RandomGraph& g, ValueId x) {
              return g.add("Gemm", {x, g.constant({2, 4})}, {{"transA", std::int64_t{1}}});
          },
          {2, 3}),
    mixes("a matrix for each sample",
          [](RandomGraph& g, ValueId x) { return g.add("MatMul", {x, g.constant({2, 4, 5})}); }),
    mixes("something else for each sample",
          [](RandomGraph& g, ValueId x) { return g.add("Add", {x, g.constant({2, 1, 1})}); }),
    mixes("samples that are chosen",
          [](RandomGraph& g, ValueId x) { return g.add("Gather", {x, g.integers({1, 0})}); }),
    mixes("more samples than before",
          [](RandomGraph& g, ValueId x) { return g.add("Concat", {x, x}, {{"axis", std::int64_t{-3}}}); }),
    mixes("the largest of all samples",
          [](RandomGraph& g, ValueId x) { return g.add("ReduceMax", {x, g.integers({2, -3})}); }),
    mixes("samples that lose their axis",
          [](RandomGraph& g, ValueId x) { return g.add("Unsqueeze", {x, g.integers({-4})}); }),
    mixes("normalised over the samples",
          [](RandomGraph& g, ValueId x) {
              return g.add("LayerNormalization", {x, g.constant({2, 3, 4})}, {{"axis", std::int64_t{0}}});
          }),
    mixes("samples that become one",
          [](RandomGraph& g, ValueId x) { return g.add("Flatten", {x}, {{"axis", std::int64_t{0}}}); }),
    mixes("a single sample", [](RandomGraph& g, ValueId x) { return g.add("Tanh", {x}); }, {1, 3, 4}),
    mixes("17 samples, which have no equal parts",
          [](RandomGraph& g, ValueId x) { return g.add("Tanh", {x}); }, {17, 3, 4}),
    {"recognise_softmax", "exponentials that may overflow",
     [](RandomGraph& g) { return softmax(g, {}, {-1}); }},
    {"recognise_softmax", "a maximum over other elements",
     [](RandomGraph& g) { return softmax(g, {1}, {2}); }},
    {"recognise_softmax", "two axes", [](RandomGraph& g) { return softmax(g, {1, 2}, {1, 2}); }},
    {"group_convolutions", "groups of unequal width (TASO's axiom)",
     [](RandomGraph& g) {
         const ValueId a = conv(g, g.input({1, 2, 4, 4}), {1, 2, 3, 3});
         return g.finish({g.add("Concat", {a, conv(g, g.input({1, 2, 4, 4}), {3, 2, 3, 3})},
                                {{"axis", std::int64_t{1}}})});
     }},
    {"fold_identity", "a window that does not keep its place",
     [](RandomGraph& g) {
         const ValueId x = g.add("Neg", {g.input({1, 3, 5, 5})});
         return g.finish({g.add("Add", {x, conv(g, x, {3, 3, 3, 3}, {{"pads", Dims{2, 1, 0, 1}}})})});
     }},
    {"fold_identity", "the convolution is read twice",
     [](RandomGraph& g) {
         const ValueId x = g.add("Neg", {g.input({1, 3, 5, 5})});
         const ValueId y = conv(g, x, {3, 3, 1, 1});
         return g.finish({g.add("Add", {x, y}), g.used(y)});
     }},
    {"compose_convolutions", "a bias under padding",
     [](RandomGraph& g) {
         const ValueId y = g.add("Conv", {g.input({1, 2, 5, 5}), g.constant({3, 2, 1, 1}), g.constant({3})});
         return g.finish({conv(g, y, {2, 3, 3, 3}, {{"pads", Dims{1, 1, 1, 1}}})});
     }},
    {"compose_convolutions", "neither is pointwise",
     [](RandomGraph& g) {
         return g.finish({conv(g, conv(g, g.input({1, 2, 7, 7}), {3, 2, 3, 3}), {2, 3, 3, 3})});
     }},
    {"average_before_convolution", "a bias that counted padding would thin",
     [](RandomGraph& g) {
         const ValueId y = g.add("Conv", {g.input({1, 2, 5, 5}), g.constant({3, 2, 1, 1}), g.constant({3})});
         return g.finish({g.add("AveragePool", {y},
                                {{"kernel_shape", Dims{3, 3}},
                                 {"pads", Dims{1, 1, 1, 1}},
                                 {"count_include_pad", std::int64_t{1}}})});
     }},
    {"average_as_convolution", "no channels",
     [](RandomGraph& g) {
         return g.finish({g.add("AveragePool", {g.input({1, 0, 4, 4})}, {{"kernel_shape", Dims{2, 2}}})});
     }},
    {"widen_groups", "no channels",
     [](RandomGraph& g) {
         return g.finish({conv(g, g.input({1, 0, 4, 4}), {4, 0, 3, 3}, {{"group", std::int64_t{2}}})});
     }},
    {"average_as_convolution", "padding that is not counted",
     [](RandomGraph& g) {
         return g.finish({g.add("AveragePool", {g.input({1, 2, 5, 5})},
                                {{"kernel_shape", Dims{3, 3}}, {"pads", Dims{1, 1, 1, 1}}})});
     }},
    {"scale_after_relu", "a factor below zero",
     [](RandomGraph& g) {
         return g.finish({g.add("Relu", {g.add("Mul", {g.input({2, 3}), g.scalar(-2)})})});
     }},
    {"function_before_split", "another function of one part",
     [](RandomGraph& g) {
         const auto parts = g.split(g.input({2, 5}), 1, {2, 3});
         return g.finish({g.add("Relu", {parts[0]}), g.add("Tanh", {parts[1]})});
     }},
    {"merge_concats", "another axis",
     [](RandomGraph& g) {
         const ValueId a = g.add("Concat", {g.input({2, 3}), g.input({1, 3})}, {{"axis", std::int64_t{0}}});
         return g.finish({g.add("Concat", {a, g.input({3, 2})}, {{"axis", std::int64_t{1}}})});
     }},
    {"merge_splits", "another axis",
     [](RandomGraph& g) {
         const auto parts = g.split(g.input({4, 5}), 1, {2, 3});
         const auto pieces = g.split(parts[1], 0, {1, 3});
         return g.finish({g.used(parts[0]), g.used(pieces[0]), g.used(pieces[1])});
     }},
    {"exchange_concats", "the same axis twice", [](RandomGraph& g) { return rows(g, 2, 2, -1); }},
    {"exchange_concats", "rows cut at other places", [](RandomGraph& g) { return rows(g, 2, 3, 0); }},
    {"exchange_concats", "a row that is joined to itself",
     [](RandomGraph& g) {
         const ValueId row = g.add("Concat", {g.input({2, 3}), g.input({2, 3})}, {{"axis", std::int64_t{1}}});
         return g.finish({g.add("Concat", {row, row}, {{"axis", std::int64_t{0}}})});
     }},
    {"add_after_convolution", "a term that broadcasts",
     [](RandomGraph& g) {
         const ValueId x = g.add("Add", {g.input({1, 2, 5, 5}), g.input({1, 2, 1, 1})});
         return g.finish({conv(g, x, {3, 2, 3, 3})});
     }},
    {"add_after_convolution", "the sum is read elsewhere",
     [](RandomGraph& g) {
         const ValueId x = g.add("Add", {g.input({1, 2, 5, 5}), g.input({1, 2, 5, 5})});
         return g.finish({conv(g, x, {3, 2, 3, 3}), g.used(x)});
     }},
    {"concat_matmuls", "different left operands beside each other",
     [](RandomGraph& g) {
         const ValueId a = g.add("MatMul", {g.input({2, 3}), g.input({3, 4})});
         return g.finish({g.add("Concat", {a, g.add("MatMul", {g.input({2, 3}), g.input({3, 4})})},
                                {{"axis", std::int64_t{1}}})});
     }},
    {"transpose_before_matmul", "an operand of lower rank",
     [](RandomGraph& g) {
         const ValueId y = g.add("MatMul", {g.input({2, 3, 4}), g.input({4, 5})});
         return g.finish({g.add("Transpose", {y}, {{"perm", Dims{0, 2, 1}}})});
     }},
    {"transpose_before_matmul", "a batch among the matrices",
     [](RandomGraph& g) {
         const ValueId y = g.add("MatMul", {g.input({2, 3, 4}), g.input({2, 4, 5})});
         return g.finish({g.add("Transpose", {y}, {{"perm", Dims{1, 0, 2}}})});
     }},
    {"move_arithmetic_after", "different permutations",
     [](RandomGraph& g) {
         const ValueId a = g.add("Transpose", {g.input({2, 2, 2})}, {{"perm", Dims{1, 0, 2}}});
         return g.finish(
             {g.add("Add", {a, g.add("Transpose", {g.input({2, 2, 2})}, {{"perm", Dims{2, 1, 0}}})})});
     }},
    {"move_arithmetic_after", "an operand that broadcasts",
     [](RandomGraph& g) {
         const ValueId a = g.add("Transpose", {g.input({1, 3})});
         return g.finish({g.add("Add", {a, g.input({3, 4})})});
     }},
    {"fold_matmul_input_scale", "a factor per row",
     [](RandomGraph& g) {
         const ValueId x = g.add("Mul", {g.input({4, 3}), g.constant({4, 1})});
         return g.finish({g.add("MatMul", {x, g.constant({3, 2})})});
     }},
    {"fold_attention_scale", "the projection is read elsewhere",
     [](RandomGraph& g) {
         const ValueId q = g.add("MatMul", {g.input({4, 3}), g.constant({3, 2})});
         const ValueId scores = g.add("MatMul", {q, g.input({2, 5})});
         return g.finish({g.add("Mul", {scores, g.scalar(0.5)}), g.used(q)});
     }},
    {"stack_matmuls", "two products without biases are merge_matmuls'",
     [](RandomGraph& g) {
         const ValueId x = g.input({4, 3});
         return g.finish(
             {g.add("MatMul", {x, g.constant({3, 2})}), g.add("MatMul", {x, g.constant({3, 5})})});
     }},
    {"stack_convolutions", "other windows",
     [](RandomGraph& g) {
         const ValueId x = g.input({1, 2, 5, 5});
         const ValueId a = g.add("Relu", {conv(g, x, {3, 2, 1, 1})});
         return g.finish({a, g.add("Relu", {conv(g, x, {3, 2, 3, 3}, {{"pads", Dims{1, 1, 1, 1}}})})});
     }},
    {"einsum_to_matmul", "a diagonal",
     [](RandomGraph& g) {
         return g.finish({g.add("Einsum", {g.input({3, 3})}, {{"equation", std::string("ii->i")}})});
     }},
    {"einsum_to_matmul", "a product between that is larger than what goes in and comes out",
     [](RandomGraph& g) {
         const Dims cube = {2, 2, 2};
         return g.finish({g.add("Einsum", {g.input(cube), g.input(cube), g.input(cube), g.input(cube)},
                                {{"equation", std::string("abc,ade,bdf,cef->")}})});
     }},
    {"einsum_to_matmul", "a diagonal beside broadcast axes",
     [](RandomGraph& g) {
         return g.finish({g.add("Einsum", {g.input({2, 3, 3})}, {{"equation", std::string("...ii->...i")}})});
     }},
    {"einsum_to_matmul", "an extent of one that broadcasts",
     [](RandomGraph& g) {
         return g.finish(
             {g.add("Einsum", {g.input({2, 1}), g.input({3, 4})}, {{"equation", std::string("ij,jk->ik")}})});
     }},
    {"merge_bounds", "bounds that are not known",
     [](RandomGraph& g) {
         const ValueId low = g.add("ReduceMin", {g.input({3})}, {{"keepdims", std::int64_t{0}}});
         return g.finish({g.add("Clip", {g.add("Relu", {g.input({2, 2})}), low})});
     }},
    {"split_groups", "a group per channel of many",
     [](RandomGraph& g) {
         return g.finish({conv(g, g.input({1, 16, 4, 4}), {16, 1, 3, 3}, {{"group", std::int64_t{16}}})});
     }},
    {"merge_scales", "whole numbers: (x / 2) * 2 is not x",
     [](RandomGraph& g) { return twice(g, "Div", 2, "Mul", 2); }, ElementType::i64},
    {"merge_scales", "factors whose product is no number of the type",
     [](RandomGraph& g) { return twice(g, "Mul", 1e38, "Mul", 10); }},
    {"merge_scales", "factors whose product is no number of 16 bits",
     [](RandomGraph& g) { return twice(g, "Mul", 60000, "Mul", 2); }, ElementType::f16},
    {"merge_scales", "terms that are there to round",
     [](RandomGraph& g) { return twice(g, "Add", 12582912, "Sub", 12582912); }},
    {"merge_scales", "division by zero", [](RandomGraph& g) { return twice(g, "Div", 0, "Mul", 2); }},
    {"fold_scale", "weights that overflow", [](RandomGraph& g) { return scaled_after(g, 1e32, 1e10); }},
    {"fold_scale", "weights that vanish", [](RandomGraph& g) { return scaled_after(g, 1e-32, 1e-10); }},
    {"fold_scale", "a factor out of range", [](RandomGraph& g) { return scaled_after(g, 1, 1e-30); }},
    {"fold_scale", "weights that vanish in 16 bits",
     [](RandomGraph& g) { return scaled_after(g, 0x1p-9, 0x1p-7); }, ElementType::f16},
    {"fold_matmul_input_scale", "weights that overflow",
     [](RandomGraph& g) { return scaled_before(g, 1e10, "MatMul", g.filled({3, 2}, 1e32)); }},
    {"fold_matmul_input_scale", "weights that vanish",
     [](RandomGraph& g) { return scaled_before(g, 1e-10, "MatMul", g.filled({3, 2}, 1e-30)); }},
    {"fold_matmul_input_scale", "a factor out of range",
     [](RandomGraph& g) { return scaled_before(g, 1e25, "MatMul", g.filled({3, 2}, 1e-20)); }},
    {"fold_input_scale", "weights that overflow",
     [](RandomGraph& g) { return scaled_before(g, 1e10, "Conv", g.filled({2, 3, 1, 1}, 1e32)); }},
    {"fold_input_scale", "weights that vanish",
     [](RandomGraph& g) { return scaled_before(g, 1e-10, "Conv", g.filled({2, 3, 1, 1}, 1e-30)); }},
    {"scale_after_matmul", "a factor out of range",
     [](RandomGraph& g) { return scaled_before(g, 1e25, "MatMul", g.input({3, 2})); }},
    {"scale_before_matmul", "a factor out of range", [](RandomGraph& g) { return scaled_after(g, 1, 1e25); }},
    {"distribute_scale", "whole numbers", [](RandomGraph& g) { return twice(g, "Add", 1, "Div", 2); },
     ElementType::i32},
    {"distribute_scale", "a term that is there to round",
     [](RandomGraph& g) { return twice(g, "Add", 12582912, "Mul", 2); }},
    {"distribute_product", "a constant term and factor are distribute_scale's",
     [](RandomGraph& g) {
         const ValueId sum = g.add("Add", {g.input({2, 3}), g.constant({2, 3})});
         return g.finish({g.add("Mul", {sum, g.scalar(2)})});
     }},
    {"distribute_product", "terms that overflow apart",
     [](RandomGraph& g) {
         const ValueId sum = g.add("Sub", {g.input({2, 3}), g.input({2, 3})});
         return g.finish({g.add("Mul", {sum, g.scalar(1e38)})});
     }},
    {"distribute_product", "a factor that enlarges the sum",
     [](RandomGraph& g) {
         const ValueId sum = g.add("Add", {g.input({3}), g.input({3})});
         return g.finish({g.add("Mul", {sum, g.input({2, 3})})});
     }},
    {"associate_product", "factors out of range",
     [](RandomGraph& g) {
         const ValueId y = g.add("Mul", {g.input({}), g.scalar(1e-38)});
         return g.finish({g.add("Mul", {y, g.input({})})});
     }},
    {"associate_product", "a product between that would grow",
     [](RandomGraph& g) {
         const ValueId y = g.add("Mul", {g.input({3}), g.input({})});
         return g.finish({g.add("Mul", {y, g.input({2, 3})})});
     }},
    {"associate_sum", "a term that is there to round",
     [](RandomGraph& g) {
         const ValueId y = g.add("Add", {g.input({}), g.scalar(12582912)});
         return g.finish({g.add("Add", {y, g.input({})})});
     }},
    {"associate_sum", "the inner sum is read elsewhere",
     [](RandomGraph& g) {
         const ValueId y = g.add("Add", {g.input({2}), g.input({2})});
         return g.finish({g.add("Add", {g.input({2}), y}), g.used(y)});
     }},
    {"factor_product", "no common factor",
     [](RandomGraph& g) {
         const ValueId a = g.add("Mul", {g.input({2, 3}), g.input({2, 3})});
         return g.finish({g.add("Add", {a, g.add("Mul", {g.input({2, 3}), g.input({2, 3})})})});
     }},
};

TEST(Guards, LeaveAloneWhatIsNotEqual) {
    for (const Case& one : cases) {
        const Rule* rule = find_rule(one.rule);
        ASSERT_NE(rule, nullptr) << one.rule;
        Random random(1);
        RandomGraph g(random, one.type);
        Graph graph = one.build(g);
        (void)infer_types(graph);  // some are wrong on purpose
        for (const NodeId id : graph.nodes()) {
            Graph after = graph;
            const auto applied = apply(*rule, after, id);
            ASSERT_TRUE(applied.ok()) << one.rule << ": " << applied.error().text();
            EXPECT_FALSE(applied->has_value()) << one.rule << " matches " << one.why;
        }
    }
}

TEST(Guards, OperatorsKeepTheirDomain) {
    Random random(1);
    RandomGraph g(random, ElementType::f32);
    std::vector<ValueId> parts;
    for (int i = 0; i < 2; ++i) {
        Node gelu;
        gelu.op = graph::Operator("QuickGelu", "com.microsoft");
        gelu.inputs = {g.input({2, 3})};
        parts.push_back(g.graph.node(g.graph.add_node(gelu, 1)).outputs[0]);
    }
    Graph graph = g.finish({g.add("Concat", parts, {{"axis", std::int64_t{1}}})});
    ASSERT_TRUE(infer_types(graph).ok());
    const Rule* rule = find_rule("concat_before_function");
    ASSERT_NE(rule, nullptr);
    bool applied = false;
    for (const NodeId id : graph.nodes()) {
        Graph after = graph;
        const auto done = apply(*rule, after, id);
        ASSERT_TRUE(done.ok()) << done.error().text();
        if (!done->has_value()) continue;
        applied = true;
        for (const NodeId each : after.nodes())
            if (after.node(each).op != graph::op::Concat) {
                EXPECT_EQ(after.node(each).op.domain(), "com.microsoft");
            }
    }
    EXPECT_TRUE(applied);
}

}  // namespace
}  // namespace viridian::rewrite
