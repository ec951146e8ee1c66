#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/graph/operator_support.hpp"

namespace viridian::graph {
namespace {

Dims as_integers(const Tensor& tensor) { return tensor.integers(); }

TEST(Elementwise, FunctionsAtKnownPoints) {
    const auto at = [](const std::string& op, float x, Attributes attributes = {}) {
        return run(op, {floats({1}, {x})}, std::move(attributes)).values<float>()[0];
    };
    EXPECT_FLOAT_EQ(at("Gelu", 1), 0.8413447F);
    EXPECT_FLOAT_EQ(at("Gelu", 1, {{"approximate", std::string("tanh")}}), 0.8411920F);
    EXPECT_FLOAT_EQ(at("Softplus", 100), 100);
    EXPECT_FLOAT_EQ(at("Softplus", 0), std::log(2.0F));
    EXPECT_FLOAT_EQ(at("Elu", -1, {{"alpha", 2.0}}), 2 * (std::exp(-1.0F) - 1));
    EXPECT_FLOAT_EQ(at("HardSwish", 1), 2.0F / 3);
    EXPECT_EQ(at("Round", 2.5F), 2);
    EXPECT_EQ(at("Round", -1.5F), -2);
    EXPECT_EQ(at("Sign", -3), -1);
    EXPECT_TRUE(std::isnan(at("Relu", std::numeric_limits<float>::quiet_NaN())));
    EXPECT_FLOAT_EQ(at("LeakyRelu", -1), -0.01F);
    EXPECT_FLOAT_EQ(at("ThresholdedRelu", 1), 0);
}

TEST(Elementwise, IntegersKeepAllTheirBits) {
    const std::int64_t large = (std::int64_t{1} << 60) + 1;
    EXPECT_EQ(as_integers(run("Add", {integers({1}, {large}), integers({1}, {1})})), Dims{large + 1});
    EXPECT_EQ(as_integers(run("Neg", {integers({1}, {large})})), Dims{-large});
    EXPECT_EQ(as_integers(run("Abs", {integers({1}, {-large})})), Dims{large});
    EXPECT_EQ(as_integers(run("Pow", {integers({1}, {3}), integers({1}, {37})})), Dims{450283905890997363});
}

TEST(Elementwise, IntegerDivisionTruncatesAndNeverTraps) {
    const std::int64_t least = std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(as_integers(run("Div", {integers({4}, {-7, 7, 1, least}), integers({4}, {2, -2, 0, -1})})),
              (Dims{-3, -3, 0, least}));
    EXPECT_EQ(as_integers(run("Mod", {integers({3}, {-7, 7, least}), integers({3}, {3, -3, -1})})),
              (Dims{2, -2, 0}));
    EXPECT_EQ(as_integers(
                  run("Mod", {integers({2}, {-7, 7}), integers({2}, {3, -3})}, {{"fmod", std::int64_t{1}}})),
              (Dims{-1, 1}));
}

TEST(Elementwise, UnsignedComparesAndDividesUnsigned) {
    const std::vector<std::uint64_t> large = {~std::uint64_t{0}};
    const std::vector<std::uint64_t> two = {2};
    const Tensor a = Tensor::of<std::uint64_t>(ElementType::u64, {1}, large);
    const Tensor b = Tensor::of<std::uint64_t>(ElementType::u64, {1}, two);
    EXPECT_EQ(run("Greater", {a, b}).integer(0), 1);
    EXPECT_EQ(run("Div", {a, b}).integer(0), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(run("BitShift", {a, b}, {{"direction", std::string("RIGHT")}}).integer(0),
              std::numeric_limits<std::int64_t>::max() >> 1);
}

TEST(Elementwise, VariadicFoldsBroadcast) {
    const Tensor a = floats({2, 1}, {1, 4});
    const Tensor b = floats({2}, {2, 3});
    const Tensor c = floats({}, {9});
    const Tensor mean = run("Mean", {a, b, c});
    EXPECT_EQ(mean.dims(), (Dims{2, 2}));
    EXPECT_FLOAT_EQ(mean.values<float>()[2], 5);
    EXPECT_FLOAT_EQ(run("Max", {a, b, c}).values<float>()[0], 9);
    EXPECT_FLOAT_EQ(run("Min", {a, b, c}).values<float>()[2], 2);
    EXPECT_EQ(run("Sum", {a}).dims(), (Dims{2, 1}));
}

TEST(Elementwise, ClipAndWhereAndCast) {
    const Tensor x = floats({3}, {-1, 0.5F, 7});
    EXPECT_FLOAT_EQ(run("Clip", {x, floats({}, {0}), floats({}, {6})}).values<float>()[2], 6);
    EXPECT_EQ(as_integers(run("Cast", {x}, {{"to", std::int64_t{7}}})), (Dims{-1, 0, 7}));
    EXPECT_EQ(as_integers(run("Cast", {x}, {{"to", std::int64_t{9}}})), (Dims{1, 1, 1}));
    EXPECT_EQ(as_integers(run("Cast", {floats({2}, {NAN, 1e30F})}, {{"to", std::int64_t{6}}})),
              (Dims{0, -1}));
    const Tensor condition = run("Greater", {x, floats({}, {0})});
    EXPECT_EQ(condition.type(), ElementType::boolean);
    const Tensor chosen = run("Where", {condition, x, floats({2, 1}, {5, 6})});
    EXPECT_EQ(chosen.dims(), (Dims{2, 3}));
    EXPECT_FLOAT_EQ(chosen.values<float>()[3], 6);
}

TEST(Elementwise, HugeBroadcastIsRefused) {
    Graph graph;
    const ValueId a = graph.add_input("a", {ElementType::f32, shape_of({1 << 17, 1})});
    const ValueId b = graph.add_input("b", {ElementType::f32, shape_of({1, 1 << 17})});
    graph.set_outputs({graph.add("Add", {a, b})});
    const auto outputs =
        evaluate(graph, {Tensor(ElementType::f32, {1 << 17, 1}), Tensor(ElementType::f32, {1, 1 << 17})});
    ASSERT_FALSE(outputs.ok());
    EXPECT_EQ(outputs.error().code, ErrorCode::limit_exceeded);
}

// What the shape rule of one node says of inputs of these types.
std::string refusal(const std::string& op, const std::vector<TensorType>& types) {
    Graph graph;
    std::vector<ValueId> inputs;
    for (const TensorType& type : types) inputs.push_back(graph.add_input("x", type));
    graph.set_outputs({graph.add(op, inputs, {}, "n")});
    const auto inferred = infer_types(graph);
    return inferred.ok() ? "" : inferred.error().message;
}

TEST(Elementwise, OperandsWithoutMeaningAreRefused) {
    const TensorType truths{ElementType::boolean, shape_of({3})}, numbers{ElementType::f32, shape_of({3})};
    const TensorType number{ElementType::f32, shape_of({})}, half{ElementType::f16, shape_of({})};
    EXPECT_EQ(refusal("Add", {truths, truths}), "node `n` (Add): Add is given bool[3]");
    EXPECT_EQ(refusal("Max", {numbers, truths}), "node `n` (Max): Max is given bool[3]");
    EXPECT_EQ(refusal("Add", {numbers, number}), "");
    const std::string bounds = "node `n` (Clip): Clip's bounds are scalars of its type";
    EXPECT_EQ(refusal("Clip", {number, numbers}), bounds);
    EXPECT_EQ(refusal("Clip", {numbers, number, half}), bounds);
    EXPECT_EQ(refusal("Clip", {numbers, number, number}), "");
    const TensorType pads{ElementType::i64, shape_of({2})};
    EXPECT_EQ(refusal("Pad", {numbers, pads, half}), "node `n` (Pad): Pad cannot fill f32[3] with f16[]");
    EXPECT_EQ(refusal("Pad", {numbers, pads, number}), "");
    const TensorType column{ElementType::f32, shape_of({1, 1})};
    EXPECT_EQ(refusal("Resize", {numbers, column, column}),
              "node `n` (Resize): input 1 of Resize has rank 2");
}

TEST(Elementwise, ExactInTheField) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f32, shape_of({1})});
    const ValueId y = graph.add_input("y", {ElementType::f32, shape_of({1})});
    // (x / y) · y = x exactly
    graph.set_outputs({graph.add("Mul", {graph.add("Div", {x, y}), y})});
    Array<PrimeField> a(ElementType::f32, {1});
    a.real[0] = PrimeField(123456);
    Array<PrimeField> b(ElementType::f32, {1});
    b.real[0] = PrimeField(777);
    const auto outputs = evaluate<PrimeField>(graph, {a, b}, Rounding::none);
    ASSERT_TRUE(outputs.ok());
    EXPECT_EQ((*outputs)[0].real[0], a.real[0]);
}

}  // namespace
}  // namespace viridian::graph
