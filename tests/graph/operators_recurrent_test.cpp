// Einsum, Resize, recurrent layers, quantization: what ONNX's own tests (make conformance) leave out.
#include <cmath>
#include <tuple>

#include "operator_support.hpp"

namespace viridian::graph {
namespace {

ErrorCode code(const char* op, const std::vector<Tensor>& inputs, Attributes attributes = {}) {
    const auto outputs = run_operator(op, inputs, std::move(attributes));
    return outputs.ok() ? ErrorCode::broken_invariant : outputs.error().code;
}
Attributes equation(const char* text) { return {{"equation", std::string(text)}}; }

TEST(Einsum, SumsWhatTheEquationLeavesOut) {
    const Tensor a = counting({2, 3});
    const Tensor b = counting({3, 2});
    expect_floats(run("Einsum", {a, b}, equation("ij,jk->ik")), {2, 2}, {10, 13, 28, 40});
    expect_floats(run("Einsum", {a, b}, equation("ij, jk")), {2, 2}, {10, 13, 28, 40});
    expect_floats(run("Einsum", {a, b}, equation("ij,jk->ki")), {2, 2}, {10, 28, 13, 40});
    expect_floats(run("Einsum", {a}, equation("ij->")), {}, {15});
    expect_floats(run("Einsum", {counting({2, 2})}, equation("ii->i")), {2}, {0, 3});
    expect_floats(run("Einsum", {counting({2, 1, 2}), counting({2, 2})}, equation("...i,...i->...")), {2, 2},
                  {1, 3, 3, 13});
}

TEST(Einsum, RefusesWhatDoesNotFit) {
    const Tensor a = counting({2, 3});
    EXPECT_EQ(code("Einsum", {a, a}, equation("ij,jk->ik")), ErrorCode::mismatch);
    EXPECT_EQ(code("Einsum", {a}, equation("ijk->i")), ErrorCode::mismatch);
    EXPECT_EQ(code("Einsum", {a}, equation("ij->k")), ErrorCode::malformed);
    EXPECT_EQ(code("Einsum", {a}, equation("i?->i")), ErrorCode::malformed);
    EXPECT_EQ(code("Einsum", {a}, equation("ij,jk->ik")), ErrorCode::malformed);
    EXPECT_EQ(code("Einsum", {a, a}, equation("ij->i")), ErrorCode::malformed);
}

TEST(Resize, KeepsSymbolsOfAxesThatStay) {
    Graph graph;
    const ValueId x = graph.add_input(
        "x", {ElementType::f32, Shape{Dimension(std::string("N")), Dimension(3), Dimension(4)}});
    const ValueId scales = graph.add_constant("scales", floats({3}, {1, 1, 2}));
    graph.set_outputs({graph.add("Resize", {x, ValueId::none, scales})});
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_EQ(text(graph.value(graph.outputs()[0]).type), "f32[N,3,8]");
}

TEST(Resize, RefusesScalesThatDoNotFit) {
    const Tensor none;
    EXPECT_EQ(code("Resize", {counting({2, 2}), none, floats({1}, {2})}), ErrorCode::mismatch);
    EXPECT_EQ(code("Resize", {counting({2, 2}), none, floats({2}, {2, 0})}), ErrorCode::mismatch);
    EXPECT_EQ(code("Resize", {counting({2, 2}), none, none, integers({2}, {2, -1})}), ErrorCode::mismatch);
    EXPECT_EQ(code("Resize", {counting({2, 2}), none, floats({2}, {1e5F, 1e6F})}), ErrorCode::limit_exceeded);
    EXPECT_EQ(code("Resize", {counting({2, 2})}), ErrorCode::mismatch);
}

// One step of one unit, by hand: i = f = o = sigmoid(0) where the weights are zero.
TEST(Recurrent, LstmByHand) {
    const Tensor x = floats({1, 1, 1}, {1});
    const Tensor w = floats({1, 4, 1}, {0, 0, 0, 1});
    const Tensor r = floats({1, 4, 1}, {0, 0, 0, 0});
    const auto outputs = run_operator("LSTM", {x, w, r}, {{"hidden_size", std::int64_t{1}}}, 3);
    ASSERT_TRUE(outputs.ok());
    const double cell = 0.5 * std::tanh(1.0);
    expect_floats((*outputs)[2], {1, 1, 1}, {cell});
    expect_floats((*outputs)[0], {1, 1, 1, 1}, {0.5 * std::tanh(cell)});
}

// Reversing the input and the direction reverses the outputs, for examples of different length.
TEST(Recurrent, ReverseIsForwardOnReversedSequences) {
    const std::vector<std::int32_t> lengths = {3, 2};
    const Tensor lens = Tensor::of<std::int32_t>(ElementType::i32, {2}, lengths);
    const Tensor none;
    const Tensor w = counting({1, 3, 1}, 0.3F, -0.2F);
    const Tensor r = counting({1, 3, 1}, -0.2F, 0.4F);
    const Tensor x = floats({3, 2, 1}, {1, 2, 3, 4, 5, 0});
    const Tensor mirrored = floats({3, 2, 1}, {5, 4, 3, 2, 1, 0});
    const Tensor forward = run("GRU", {x, w, r, none, lens});
    const Tensor reverse = run("GRU", {mirrored, w, r, none, lens}, {{"direction", std::string("reverse")}});
    for (const auto& [t, b, mirror] : {std::tuple{0, 0, 2}, {1, 0, 1}, {2, 0, 0}, {0, 1, 1}, {1, 1, 0}})
        EXPECT_NEAR(forward.number(t * 2 + b), reverse.number(mirror * 2 + b), 1e-6);
    EXPECT_EQ(forward.number(5), 0);
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
    const Tensor x = counting({2, 1, 3});
    EXPECT_EQ(code("RNN", {x, counting({1, 4, 2}), counting({1, 4, 4})}), ErrorCode::mismatch);
    EXPECT_EQ(
        code("RNN", {x, counting({1, 4, 3}), counting({1, 4, 4})}, {{"direction", std::string("sideways")}}),
        ErrorCode::malformed);
    EXPECT_EQ(code("RNN", {x, counting({1, 4, 3}), counting({1, 4, 4})},
                   {{"activations", std::vector<std::string>{"Nonsense"}}}),
              ErrorCode::malformed);
}

TEST(Quantization, RoundsHalfToEvenAndSaturates) {
    const std::vector<std::int8_t> zero = {1};
    const Tensor y = run("QuantizeLinear", {floats({5}, {0.5F, 1.5F, -500, 500, 2.4F}), floats({}, {1}),
                                            Tensor::of<std::int8_t>(ElementType::i8, {}, zero)});
    EXPECT_EQ(y.integers(), (Dims{1, 3, -128, 127, 3}));
}

TEST(Quantization, RefusesWhatDoesNotFit) {
    EXPECT_EQ(code("QuantizeLinear", {counting({2, 3}), counting({2}, 1, 1)}), ErrorCode::mismatch);
    EXPECT_EQ(code("DequantizeLinear", {counting({2, 3}), floats({}, {1})}), ErrorCode::mismatch);
    EXPECT_EQ(code("MatMulInteger", {counting({2, 3}), counting({3, 2})}), ErrorCode::mismatch);
}

}  // namespace
}  // namespace viridian::graph
