// Values by PyTorch 1.13 in double.
#include <limits>
#include <set>

#include "operator_support.hpp"
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {
namespace {

TEST(Contraction, ConvWithGroupsStridesPadsDilations) {
    const Tensor y =
        run("Conv", {counting({1, 4, 4, 3}, 0.1F, -2), counting({4, 2, 2, 2}, 0.05F, -0.7F), counting({4})},
            {{"strides", Dims{2, 1}},
             {"pads", Dims{1, 1, 1, 1}},
             {"dilations", Dims{1, 2}},
             {"group", std::int64_t{2}}});
    expect_floats(y, {1, 4, 3, 3}, {1.29, 2.72, 1.42, 1.97, 4.13, 2.14, 0.56, 1.17,  0.6,  1.25, 1.64, 1.38,
                                    1.61, 2.41, 1.78, 1.24, 1.53, 1.28, 2.89, 3.68,  2.78, 4.13, 5.97, 3.82,
                                    3.12, 4.05, 2.92, 4.77, 6.44, 4.66, 7.61, 11.93, 7.3,  5.72, 8.25, 5.52});
}

TEST(Contraction, ConvTransposeWithGroupsAndOutputPadding) {
    const Tensor x = floats({1, 4, 2, 2}, {-2.0F, -1.9F, -1.7F, -1.6F, -0.8F, -0.7F, -0.5F, -0.4F,  //
                                           0.4F, 0.5F, 0.7F, 0.8F, 1.6F, 1.7F, 1.9F, 2.0F});
    const Tensor y = run("ConvTranspose", {x, counting({4, 2, 2, 2}, 0.05F, -0.7F), counting({4})},
                         {{"strides", Dims{2, 2}},
                          {"pads", Dims{1, 1, 1, 1}},
                          {"output_padding", Dims{1, 1}},
                          {"group", std::int64_t{2}}});
    expect_floats(y, {1, 4, 3, 3}, {1.22, 1.28, 1.15, 1.23, 1.24, 1.14, 1.01, 1.04, 0.94, 1.66, 1.76, 1.63,
                                    1.79, 1.84, 1.74, 1.57, 1.64, 1.54, 3.14, 3.12, 3.23, 3.15, 3.08, 3.22,
                                    3.41, 3.36, 3.5,  4.54, 4.56, 4.67, 4.67, 4.64, 4.78, 4.93, 4.92, 5.06});
}

TEST(Contraction, ConvTransposeIsTheTransposeOfConv) {
    const Tensor x = counting({1, 2, 5, 5}, 0.3F, -3);
    const Tensor w = counting({3, 2, 3, 3}, 0.1F, -2);
    const Attributes attributes = {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}};
    const Tensor y = run("Conv", {x, w}, attributes);
    const Tensor g = counting(y.dims(), -0.2F, 1);
    const Tensor back = run("ConvTranspose", {g, w}, attributes);
    ASSERT_EQ(back.dims(), x.dims());
    double left = 0;
    double right = 0;
    for (std::int64_t i = 0; i < y.count(); ++i) left += y.number(i) * g.number(i);
    for (std::int64_t i = 0; i < x.count(); ++i) right += x.number(i) * back.number(i);
    EXPECT_NEAR(left, right, 1e-4 * std::abs(left));
}

TEST(Contraction, MatMulBroadcastsLikeNumpy) {
    expect_floats(run("MatMul", {counting({2, 3}), counting({3, 2})}), {2, 2}, {10, 13, 28, 40});
    expect_floats(run("MatMul", {counting({3}), counting({3})}), {}, {5});
    expect_floats(run("MatMul", {counting({2, 3}), counting({3})}), {2}, {5, 14});
    expect_floats(run("MatMul", {counting({3}), counting({2, 3, 1})}), {2, 1}, {5, 14});
    EXPECT_EQ(run("MatMul", {counting({5, 1, 2, 3}), counting({4, 3, 7})}).dims(), (Dims{5, 4, 2, 7}));
    EXPECT_EQ(run("MatMul", {counting({2, 0}), counting({0, 2})}).number(3), 0);
}

// What ONNX Runtime computes: sums of 64 bits wrap, of 32 bits to 32.
TEST(Contraction, IntegersWrap) {
    const auto expect = [](const Tensor& y, const Dims& dims, const Dims& values) {
        EXPECT_EQ(y.dims(), dims);
        ASSERT_EQ(y.count(), static_cast<std::int64_t>(values.size()));
        for (std::int64_t i = 0; i < y.count(); ++i)
            EXPECT_EQ(y.integer(i), values[static_cast<std::size_t>(i)]);
    };
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const Tensor a = integers({2, 3}, {1, -2, 3, 4, 5, 6});
    const Tensor b = integers({3, 2}, {7, 8, 9, 10, 11, -12});
    expect(run("MatMul", {a, b}), {2, 2}, {22, -48, 139, 10});
    expect(run("Einsum", {a, b}, {{"equation", std::string("ij,jk->ki")}}), {2, 2}, {22, 139, -48, 10});
    expect(run("MatMul", {integers({2}, {most, 1}), integers({2}, {2, 1})}), {}, {-1});
    expect(run("Gemm", {a, b, integers({2}, {1, 2})}, {{"alpha", -2.0}, {"beta", 3.0}}), {2, 2},
           {-41, 102, -275, -14});
    EXPECT_FALSE(run_operator("Gemm", {a, b}, {{"alpha", 0.5}}).ok());
    for (const ElementType type : {ElementType::i32, ElementType::u32, ElementType::u64}) {
        const Attributes to = {{"to", onnx_code_of(type)}};
        const Tensor x = run("Cast", {integers({1, 2}, {1 << 30, 3})}, to);
        const Tensor y = run("MatMul", {x, run("Cast", {integers({2, 1}, {3, -1})}, to)});
        EXPECT_EQ(y.type(), type);
        constexpr std::int64_t sum = 3 * (std::int64_t{1} << 30) - 3;
        const std::int64_t expected = type == ElementType::i32 ? sum - (std::int64_t{1} << 32) : sum;
        EXPECT_EQ(y.integer(0), expected) << name_of(type);
    }
    EXPECT_FALSE(
        run_operator("MatMul", {Tensor(ElementType::i8, {2, 2}), Tensor(ElementType::i8, {2, 2})}).ok());
}

TEST(Contraction, GemmScalesTransposesAndBroadcasts) {
    const Attributes attributes = {
        {"alpha", 2.0}, {"beta", 0.5}, {"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}};
    expect_floats(run("Gemm", {counting({3, 2}), counting({2, 3}, 0.5F), counting({2, 1})}, attributes),
                  {2, 2}, {10, 28, 13.5, 40.5});
}

// Blocks and tiles end inside the matrices: compared with the definition.
TEST(Contraction, LargeProductsKeepTheirEdges) {
    const std::int64_t m = 7;
    const std::int64_t k = 1030;
    const std::int64_t n = 9;
    const Tensor a = counting({m, k}, 0.001F, -3);
    const Tensor b = counting({k, n}, -0.002F, 5);
    const Tensor y = run("MatMul", {a, b});
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t p = 0; p < k; ++p) sum += a.number(i * k + p) * b.number(p * n + j);
            EXPECT_NEAR(y.number(i * n + j), sum, 1e-6 * std::abs(sum));
        }
}

TEST(Contraction, ExactInThePrimeField) {
    Graph graph;
    const ValueId a = graph.add_input("a", {ElementType::f32, shape_of({2, 2})});
    const ValueId b = graph.add_input("b", {ElementType::f32, shape_of({2, 2})});
    graph.set_outputs({graph.add("MatMul", {a, b})});
    Array<PrimeField> x(ElementType::f32, {2, 2});
    for (auto& entry : x.real) entry = PrimeField(-1);
    const auto y = evaluate<PrimeField>(graph, {x, x}, Rounding::declared);
    ASSERT_TRUE(y.ok());
    EXPECT_EQ((*y)[0].real[0].value(), 2U);
}

TEST(Contraction, RefusesWhatDoesNotFit) {
    const auto code = [](const char* op, const std::vector<Tensor>& inputs, Attributes attributes = {}) {
        const auto outputs = run_operator(op, inputs, std::move(attributes));
        return outputs.ok() ? ErrorCode::broken_invariant : outputs.error().code;
    };
    EXPECT_EQ(code("MatMul", {counting({2, 3}), counting({2, 3})}), ErrorCode::mismatch);
    EXPECT_EQ(code("MatMul", {counting({2, 3}), integers({3, 1}, {1, 2, 3})}), ErrorCode::mismatch);
    EXPECT_EQ(code("Gemm", {counting({2, 3}), counting({3, 2}), counting({3})}), ErrorCode::mismatch);
    EXPECT_EQ(code("Conv", {counting({1, 3, 4, 4}), counting({2, 3, 5, 5})}), ErrorCode::mismatch);
    EXPECT_EQ(code("Conv", {counting({1, 3, 4, 4}), counting({2, 3, 1, 1}), counting({3})}),
              ErrorCode::mismatch);
    EXPECT_EQ(code("Conv", {counting({1, 3, 4, 4}), counting({2, 3, 1, 1})}, {{"group", std::int64_t{0}}}),
              ErrorCode::mismatch);
}

TEST(Contraction, CountsFlopAndLoops) {
    Node node;
    node.op = "Conv";
    const std::vector<TensorType> inputs = {{ElementType::f32, shape_of({1, 3, 8, 8})},
                                            {ElementType::f32, shape_of({4, 3, 3, 3})}};
    const std::vector<TensorType> outputs = {{ElementType::f32, shape_of({1, 4, 6, 6})}};
    EXPECT_EQ(flop({node, inputs, outputs}).value, 2 * 4 * 36 * 27);
    EXPECT_EQ(iteration_space({node, inputs, outputs}).size(), 7U);
}

// The extents alone would say that the last axis is reduced.
TEST(Reduction, TheLoopsFollowTheAxesWhereExtentsAreEqual) {
    const auto reduced = [](const char* op, std::int64_t axis, bool by_input) {
        Node node;
        node.op = op;
        node.attributes = {{"keepdims", std::int64_t{0}}};
        node.inputs = {ValueId{0}};
        Tensor axes(ElementType::i64, {1});
        axes.mutable_values<std::int64_t>()[0] = axis;
        if (by_input)
            node.inputs.push_back(ValueId{1});
        else
            node.attributes["axis"] = axis;
        const std::vector<TensorType> inputs = {{ElementType::f32, shape_of({4, 4, 4})},
                                                {ElementType::i64, shape_of({1})}};
        const std::vector<TensorType> outputs = {{ElementType::f32, shape_of({4, 4})}};
        const std::vector<const Tensor*> constants = {nullptr, &axes};
        std::string marks;
        for (const Axis& loop : iteration_space({node, inputs, outputs, constants})) {
            EXPECT_EQ(loop.size, 4);
            marks += loop.reduced ? '-' : '+';
        }
        return marks;
    };
    EXPECT_EQ(reduced("ReduceSum", 0, true), "-++");
    EXPECT_EQ(reduced("ReduceMax", -2, true), "+-+");
    EXPECT_EQ(reduced("ArgMax", 1, false), "+-+");
}

TEST(Operators, HaveOneRowEach) {
    std::set<std::pair<std::string_view, std::string_view>> names;
    for (const OperatorRow* row : all_operators())
        EXPECT_TRUE(names.emplace(row->domain, row->name).second) << row->name;
}

}  // namespace
}  // namespace viridian::graph
