// What every guard is there for: graphs that look like a rule's left side and must be left alone.
#include <gtest/gtest.h>

#include <functional>

#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

struct Case {
    const char* rule;
    const char* why;
    std::function<Graph(Sketch&)> build;
    ElementType type = ElementType::f32;
};

Graph twice(Sketch& s, const char* first, double c, const char* second, double d) {
    return s.finish({s.add(second, {s.add(first, {s.input({2, 3}), s.scalar(c)}), s.scalar(d)})});
}

Graph scaled_after(Sketch& s, double weight, double factor) {
    return s.finish(
        {s.add("Mul", {s.add("MatMul", {s.input({2, 3}), s.filled({3, 2}, weight)}), s.scalar(factor)})});
}

Graph scaled_before(Sketch& s, double factor, const char* op, ValueId w) {
    const bool conv = std::string_view(op) == "Conv";
    const ValueId x = s.input(conv ? Dims{1, 3, 2, 2} : Dims{2, 3});
    return s.finish({s.add(op, {s.add("Mul", {x, s.scalar(factor)}), w})});
}

// Two rows of [2, 5], cut at a and b, joined along `axis`.
Graph rows(Sketch& s, std::int64_t a, std::int64_t b, std::int64_t axis) {
    std::vector<ValueId> both;
    for (const std::int64_t cut : {a, b})
        both.push_back(
            s.add("Concat", {s.input({2, cut}), s.input({2, 5 - cut})}, {{"axis", std::int64_t{1}}}));
    return s.finish({s.add("Concat", both, {{"axis", axis}})});
}

std::vector<ValueId> split(Sketch& s, ValueId x, std::int64_t axis, const Dims& sizes) {
    Node node;
    node.op = "Split";
    node.inputs = {x, s.integers(sizes)};
    node.attributes["axis"] = axis;
    return s.graph.node(s.graph.add_node(node, sizes.size())).outputs;
}

ValueId conv(Sketch& s, ValueId x, Dims weights, Attributes attributes = {}) {
    return s.add("Conv", {x, s.constant(weights)}, std::move(attributes));
}

// exp(x − max over `first`) / Σ over `second`; where `first` is empty, nothing is subtracted.
Graph softmax(Sketch& s, const Dims& first, const Dims& second) {
    const ValueId x = s.input({2, 3, 4});
    const ValueId shifted = first.empty() ? x : s.add("Sub", {x, s.add("ReduceMax", {x, s.integers(first)})});
    const ValueId powers = s.add("Exp", {shifted});
    return s.finish({s.add("Div", {powers, s.add("ReduceSum", {powers, s.integers(second)})})});
}

// Neg, then `op` on samples along axis 0 of {2, 3, 4}, then Neg: one node alone is not worth splitting.
Case mixes(const char* why, std::function<ValueId(Sketch&, ValueId)> op, Dims dims = {2, 3, 4}) {
    return {"split_batch", why, [op = std::move(op), dims](Sketch& s) {
                return s.finish({s.add("Neg", {op(s, s.add("Neg", {s.input(dims)}))})});
            }};
}

std::vector<Case> cases() {
    return {
        mixes("softmax over the samples",
              [](Sketch& s, ValueId x) { return s.add("Softmax", {x}, {{"axis", std::int64_t{-3}}}); }),
        mixes("samples that go behind",
              [](Sketch& s, ValueId x) { return s.add("Transpose", {x}, {{"perm", Dims{1, 0, 2}}}); }),
        mixes("rows that samples share",
              [](Sketch& s, ValueId x) { return s.add("Reshape", {x, s.integers({3, 8})}); }),
        mixes("samples that are summed over",
              [](Sketch& s, ValueId x) { return s.add("MatMul", {s.constant({5, 2}), x}); }, {2, 3}),
        mixes("a transposed product",
              [](Sketch& s, ValueId x) {
                  return s.add("Gemm", {x, s.constant({2, 4})}, {{"transA", std::int64_t{1}}});
              },
              {2, 3}),
        mixes("a matrix for each sample",
              [](Sketch& s, ValueId x) { return s.add("MatMul", {x, s.constant({2, 4, 5})}); }),
        mixes("something else for each sample",
              [](Sketch& s, ValueId x) { return s.add("Add", {x, s.constant({2, 1, 1})}); }),
        mixes("samples that are chosen",
              [](Sketch& s, ValueId x) { return s.add("Gather", {x, s.integers({1, 0})}); }),
        mixes("more samples than before",
              [](Sketch& s, ValueId x) { return s.add("Concat", {x, x}, {{"axis", std::int64_t{-3}}}); }),
        mixes("the largest of all samples",
              [](Sketch& s, ValueId x) { return s.add("ReduceMax", {x, s.integers({2, -3})}); }),
        mixes("samples that lose their axis",
              [](Sketch& s, ValueId x) { return s.add("Unsqueeze", {x, s.integers({-4})}); }),
        mixes("normalised over the samples",
              [](Sketch& s, ValueId x) {
                  return s.add("LayerNormalization", {x, s.constant({2, 3, 4})}, {{"axis", std::int64_t{0}}});
              }),
        mixes("samples that become one",
              [](Sketch& s, ValueId x) { return s.add("Flatten", {x}, {{"axis", std::int64_t{0}}}); }),
        mixes("a single sample", [](Sketch& s, ValueId x) { return s.add("Tanh", {x}); }, {1, 3, 4}),
        mixes("17 samples, which have no equal parts",
              [](Sketch& s, ValueId x) { return s.add("Tanh", {x}); }, {17, 3, 4}),
        {"recognise_softmax", "exponentials that may overflow",
         [](Sketch& s) { return softmax(s, {}, {-1}); }},
        {"recognise_softmax", "a maximum over other elements",
         [](Sketch& s) { return softmax(s, {1}, {2}); }},
        {"recognise_softmax", "two axes", [](Sketch& s) { return softmax(s, {1, 2}, {1, 2}); }},
        {"group_convolutions", "groups of unequal width (TASO's axiom)",
         [](Sketch& s) {
             const ValueId a = conv(s, s.input({1, 2, 4, 4}), {1, 2, 3, 3});
             return s.finish({s.add("Concat", {a, conv(s, s.input({1, 2, 4, 4}), {3, 2, 3, 3})},
                                    {{"axis", std::int64_t{1}}})});
         }},
        {"fold_identity", "a window that does not keep its place",
         [](Sketch& s) {
             const ValueId x = s.add("Neg", {s.input({1, 3, 5, 5})});
             return s.finish({s.add("Add", {x, conv(s, x, {3, 3, 3, 3}, {{"pads", Dims{2, 1, 0, 1}}})})});
         }},
        {"fold_identity", "the convolution is read twice",
         [](Sketch& s) {
             const ValueId x = s.add("Neg", {s.input({1, 3, 5, 5})});
             const ValueId y = conv(s, x, {3, 3, 1, 1});
             return s.finish({s.add("Add", {x, y}), s.used(y)});
         }},
        {"compose_convolutions", "a bias under padding",
         [](Sketch& s) {
             const ValueId y =
                 s.add("Conv", {s.input({1, 2, 5, 5}), s.constant({3, 2, 1, 1}), s.constant({3})});
             return s.finish({conv(s, y, {2, 3, 3, 3}, {{"pads", Dims{1, 1, 1, 1}}})});
         }},
        {"compose_convolutions", "neither is pointwise",
         [](Sketch& s) {
             return s.finish({conv(s, conv(s, s.input({1, 2, 7, 7}), {3, 2, 3, 3}), {2, 3, 3, 3})});
         }},
        {"average_before_convolution", "a bias that counted padding would thin",
         [](Sketch& s) {
             const ValueId y =
                 s.add("Conv", {s.input({1, 2, 5, 5}), s.constant({3, 2, 1, 1}), s.constant({3})});
             return s.finish({s.add("AveragePool", {y},
                                    {{"kernel_shape", Dims{3, 3}},
                                     {"pads", Dims{1, 1, 1, 1}},
                                     {"count_include_pad", std::int64_t{1}}})});
         }},
        {"average_as_convolution", "padding that is not counted",
         [](Sketch& s) {
             return s.finish({s.add("AveragePool", {s.input({1, 2, 5, 5})},
                                    {{"kernel_shape", Dims{3, 3}}, {"pads", Dims{1, 1, 1, 1}}})});
         }},
        {"scale_after_relu", "a factor below zero",
         [](Sketch& s) {
             return s.finish({s.add("Relu", {s.add("Mul", {s.input({2, 3}), s.scalar(-2)})})});
         }},
        {"function_before_split", "another function of one part",
         [](Sketch& s) {
             const auto parts = split(s, s.input({2, 5}), 1, {2, 3});
             return s.finish({s.add("Relu", {parts[0]}), s.add("Tanh", {parts[1]})});
         }},
        {"merge_concats", "another axis",
         [](Sketch& s) {
             const ValueId a =
                 s.add("Concat", {s.input({2, 3}), s.input({1, 3})}, {{"axis", std::int64_t{0}}});
             return s.finish({s.add("Concat", {a, s.input({3, 2})}, {{"axis", std::int64_t{1}}})});
         }},
        {"merge_splits", "another axis",
         [](Sketch& s) {
             const auto parts = split(s, s.input({4, 5}), 1, {2, 3});
             const auto pieces = split(s, parts[1], 0, {1, 3});
             return s.finish({s.used(parts[0]), s.used(pieces[0]), s.used(pieces[1])});
         }},
        {"exchange_concats", "the same axis twice", [](Sketch& s) { return rows(s, 2, 2, -1); }},
        {"exchange_concats", "rows cut at other places", [](Sketch& s) { return rows(s, 2, 3, 0); }},
        {"exchange_concats", "a row that is joined to itself",
         [](Sketch& s) {
             const ValueId row =
                 s.add("Concat", {s.input({2, 3}), s.input({2, 3})}, {{"axis", std::int64_t{1}}});
             return s.finish({s.add("Concat", {row, row}, {{"axis", std::int64_t{0}}})});
         }},
        {"add_after_convolution", "a term that broadcasts",
         [](Sketch& s) {
             const ValueId x = s.add("Add", {s.input({1, 2, 5, 5}), s.input({1, 2, 1, 1})});
             return s.finish({conv(s, x, {3, 2, 3, 3})});
         }},
        {"add_after_convolution", "the sum is read elsewhere",
         [](Sketch& s) {
             const ValueId x = s.add("Add", {s.input({1, 2, 5, 5}), s.input({1, 2, 5, 5})});
             return s.finish({conv(s, x, {3, 2, 3, 3}), s.used(x)});
         }},
        {"concat_matmuls", "different left operands beside each other",
         [](Sketch& s) {
             const ValueId a = s.add("MatMul", {s.input({2, 3}), s.input({3, 4})});
             return s.finish({s.add("Concat", {a, s.add("MatMul", {s.input({2, 3}), s.input({3, 4})})},
                                    {{"axis", std::int64_t{1}}})});
         }},
        {"transpose_before_matmul", "an operand of lower rank",
         [](Sketch& s) {
             const ValueId y = s.add("MatMul", {s.input({2, 3, 4}), s.input({4, 5})});
             return s.finish({s.add("Transpose", {y}, {{"perm", Dims{0, 2, 1}}})});
         }},
        {"transpose_before_matmul", "a batch among the matrices",
         [](Sketch& s) {
             const ValueId y = s.add("MatMul", {s.input({2, 3, 4}), s.input({2, 4, 5})});
             return s.finish({s.add("Transpose", {y}, {{"perm", Dims{1, 0, 2}}})});
         }},
        {"move_arithmetic_after", "different permutations",
         [](Sketch& s) {
             const ValueId a = s.add("Transpose", {s.input({2, 2, 2})}, {{"perm", Dims{1, 0, 2}}});
             return s.finish(
                 {s.add("Add", {a, s.add("Transpose", {s.input({2, 2, 2})}, {{"perm", Dims{2, 1, 0}}})})});
         }},
        {"move_arithmetic_after", "an operand that broadcasts",
         [](Sketch& s) {
             const ValueId a = s.add("Transpose", {s.input({1, 3})});
             return s.finish({s.add("Add", {a, s.input({3, 4})})});
         }},
        {"fold_matmul_input_scale", "a factor per row",
         [](Sketch& s) {
             const ValueId x = s.add("Mul", {s.input({4, 3}), s.constant({4, 1})});
             return s.finish({s.add("MatMul", {x, s.constant({3, 2})})});
         }},
        {"fold_attention_scale", "the projection is read elsewhere",
         [](Sketch& s) {
             const ValueId q = s.add("MatMul", {s.input({4, 3}), s.constant({3, 2})});
             const ValueId scores = s.add("MatMul", {q, s.input({2, 5})});
             return s.finish({s.add("Mul", {scores, s.scalar(0.5)}), s.used(q)});
         }},
        {"stack_matmuls", "two products without biases are merge_matmuls'",
         [](Sketch& s) {
             const ValueId x = s.input({4, 3});
             return s.finish(
                 {s.add("MatMul", {x, s.constant({3, 2})}), s.add("MatMul", {x, s.constant({3, 5})})});
         }},
        {"stack_convolutions", "other windows",
         [](Sketch& s) {
             const ValueId x = s.input({1, 2, 5, 5});
             const ValueId a = s.add("Relu", {conv(s, x, {3, 2, 1, 1})});
             return s.finish({a, s.add("Relu", {conv(s, x, {3, 2, 3, 3}, {{"pads", Dims{1, 1, 1, 1}}})})});
         }},
        {"einsum_to_matmul", "a diagonal",
         [](Sketch& s) {
             return s.finish({s.add("Einsum", {s.input({3, 3})}, {{"equation", std::string("ii->i")}})});
         }},
        {"einsum_to_matmul", "a product between that is larger than what goes in and comes out",
         [](Sketch& s) {
             const Dims cube = {2, 2, 2};
             return s.finish({s.add("Einsum", {s.input(cube), s.input(cube), s.input(cube), s.input(cube)},
                                    {{"equation", std::string("abc,ade,bdf,cef->")}})});
         }},
        {"einsum_to_matmul", "a diagonal beside broadcast axes",
         [](Sketch& s) {
             return s.finish(
                 {s.add("Einsum", {s.input({2, 3, 3})}, {{"equation", std::string("...ii->...i")}})});
         }},
        {"einsum_to_matmul", "an extent of one that broadcasts",
         [](Sketch& s) {
             return s.finish({s.add("Einsum", {s.input({2, 1}), s.input({3, 4})},
                                    {{"equation", std::string("ij,jk->ik")}})});
         }},
        {"merge_bounds", "bounds that are not known",
         [](Sketch& s) {
             const ValueId low = s.add("ReduceMin", {s.input({3})}, {{"keepdims", std::int64_t{0}}});
             return s.finish({s.add("Clip", {s.add("Relu", {s.input({2, 2})}), low})});
         }},
        {"split_groups", "a group per channel of many",
         [](Sketch& s) {
             return s.finish({conv(s, s.input({1, 16, 4, 4}), {16, 1, 3, 3}, {{"group", std::int64_t{16}}})});
         }},
        {"merge_scales", "whole numbers: (x / 2) * 2 is not x",
         [](Sketch& s) { return twice(s, "Div", 2, "Mul", 2); }, ElementType::i64},
        {"merge_scales", "factors whose product is no number of the type",
         [](Sketch& s) { return twice(s, "Mul", 1e38, "Mul", 10); }},
        {"merge_scales", "factors whose product is no number of 16 bits",
         [](Sketch& s) { return twice(s, "Mul", 60000, "Mul", 2); }, ElementType::f16},
        {"merge_scales", "terms that are there to round",
         [](Sketch& s) { return twice(s, "Add", 12582912, "Sub", 12582912); }},
        {"merge_scales", "division by zero", [](Sketch& s) { return twice(s, "Div", 0, "Mul", 2); }},
        {"fold_scale", "weights that overflow", [](Sketch& s) { return scaled_after(s, 1e32, 1e10); }},
        {"fold_scale", "weights that vanish", [](Sketch& s) { return scaled_after(s, 1e-32, 1e-10); }},
        {"fold_scale", "a factor out of range", [](Sketch& s) { return scaled_after(s, 1, 1e-30); }},
        {"fold_scale", "weights that vanish in 16 bits",
         [](Sketch& s) { return scaled_after(s, 0x1p-9, 0x1p-7); }, ElementType::f16},
        {"fold_matmul_input_scale", "weights that overflow",
         [](Sketch& s) { return scaled_before(s, 1e10, "MatMul", s.filled({3, 2}, 1e32)); }},
        {"fold_matmul_input_scale", "weights that vanish",
         [](Sketch& s) { return scaled_before(s, 1e-10, "MatMul", s.filled({3, 2}, 1e-30)); }},
        {"fold_matmul_input_scale", "a factor out of range",
         [](Sketch& s) { return scaled_before(s, 1e25, "MatMul", s.filled({3, 2}, 1e-20)); }},
        {"fold_input_scale", "weights that overflow",
         [](Sketch& s) { return scaled_before(s, 1e10, "Conv", s.filled({2, 3, 1, 1}, 1e32)); }},
        {"fold_input_scale", "weights that vanish",
         [](Sketch& s) { return scaled_before(s, 1e-10, "Conv", s.filled({2, 3, 1, 1}, 1e-30)); }},
        {"scale_after_matmul", "a factor out of range",
         [](Sketch& s) { return scaled_before(s, 1e25, "MatMul", s.input({3, 2})); }},
        {"scale_before_matmul", "a factor out of range", [](Sketch& s) { return scaled_after(s, 1, 1e25); }},
        {"distribute_scale", "whole numbers", [](Sketch& s) { return twice(s, "Add", 1, "Div", 2); },
         ElementType::i32},
        {"distribute_scale", "a term that is there to round",
         [](Sketch& s) { return twice(s, "Add", 12582912, "Mul", 2); }},
        {"distribute_product", "a constant term and factor are distribute_scale's",
         [](Sketch& s) {
             const ValueId sum = s.add("Add", {s.input({2, 3}), s.constant({2, 3})});
             return s.finish({s.add("Mul", {sum, s.scalar(2)})});
         }},
        {"distribute_product", "terms that overflow apart",
         [](Sketch& s) {
             const ValueId sum = s.add("Sub", {s.input({2, 3}), s.input({2, 3})});
             return s.finish({s.add("Mul", {sum, s.scalar(1e38)})});
         }},
        {"distribute_product", "a factor that enlarges the sum",
         [](Sketch& s) {
             const ValueId sum = s.add("Add", {s.input({3}), s.input({3})});
             return s.finish({s.add("Mul", {sum, s.input({2, 3})})});
         }},
        {"associate_product", "factors out of range",
         [](Sketch& s) {
             const ValueId y = s.add("Mul", {s.input({}), s.scalar(1e-38)});
             return s.finish({s.add("Mul", {y, s.input({})})});
         }},
        {"associate_product", "a product between that would grow",
         [](Sketch& s) {
             const ValueId y = s.add("Mul", {s.input({3}), s.input({})});
             return s.finish({s.add("Mul", {y, s.input({2, 3})})});
         }},
        {"associate_sum", "a term that is there to round",
         [](Sketch& s) {
             const ValueId y = s.add("Add", {s.input({}), s.scalar(12582912)});
             return s.finish({s.add("Add", {y, s.input({})})});
         }},
        {"associate_sum", "the inner sum is read elsewhere",
         [](Sketch& s) {
             const ValueId y = s.add("Add", {s.input({2}), s.input({2})});
             return s.finish({s.add("Add", {s.input({2}), y}), s.used(y)});
         }},
        {"factor_product", "no common factor",
         [](Sketch& s) {
             const ValueId a = s.add("Mul", {s.input({2, 3}), s.input({2, 3})});
             return s.finish({s.add("Add", {a, s.add("Mul", {s.input({2, 3}), s.input({2, 3})})})});
         }},
    };
}

TEST(Guards, LeaveAloneWhatIsNotEqual) {
    for (const Case& one : cases()) {
        const Rule* rule = find_rule(one.rule);
        ASSERT_NE(rule, nullptr) << one.rule;
        Random random(1);
        Sketch sketch(random, one.type);
        Graph graph = one.build(sketch);
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
    Sketch sketch(random, ElementType::f32);
    std::vector<ValueId> parts;
    for (int i = 0; i < 2; ++i) {
        Node gelu;
        gelu.domain = "com.microsoft";
        gelu.op = "QuickGelu";
        gelu.inputs = {sketch.input({2, 3})};
        parts.push_back(sketch.graph.node(sketch.graph.add_node(gelu, 1)).outputs[0]);
    }
    Graph graph = sketch.finish({sketch.add("Concat", parts, {{"axis", std::int64_t{1}}})});
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
            if (after.node(each).op != "Concat") {
                EXPECT_EQ(after.node(each).domain, "com.microsoft");
            }
    }
    EXPECT_TRUE(applied);
}

}  // namespace
}  // namespace viridian::rewrite
