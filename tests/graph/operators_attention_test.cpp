// Attention, losses, sampling, regions, transforms: what ONNX's own tests (make conformance) leave out.
#include <cmath>

#include "operator_support.hpp"

namespace viridian::graph {
namespace {

ErrorCode code(const char* op, const std::vector<Tensor>& inputs, Attributes attributes = {}) {
    const auto outputs = run_operator(op, inputs, std::move(attributes));
    return outputs.ok() ? ErrorCode::broken_invariant : outputs.error().code;
}
const Tensor none;

TEST(Attention, CausalRowsSeeTheirPast) {
    // Equal scores: a causal row averages the values up to itself.
    const Tensor zeros = counting({1, 1, 3, 2}, 0);
    const Tensor v = floats({1, 1, 3, 1}, {1, 3, 8});
    const Tensor y = run("Attention", {zeros, zeros, v}, {{"is_causal", std::int64_t{1}}});
    expect_floats(y, {1, 1, 3, 1}, {1, 2, 4});
}

TEST(Attention, GroupedHeadsShareKeys) {
    const Tensor q = counting({1, 4, 2, 2}, 0.1F);
    const Tensor k = counting({1, 2, 3, 2}, 0.2F);
    const Tensor v = counting({1, 2, 3, 5}, 0.3F);
    const Tensor grouped = run("Attention", {q, k, v});
    // The same with every key and value head written twice.
    const auto twice = [](const Tensor& x) {
        std::vector<float> values;
        const auto size = static_cast<std::ptrdiff_t>(x.count() / 2);
        for (const int head : {0, 0, 1, 1})
            values.insert(values.end(), x.values<float>().begin() + head * size,
                          x.values<float>().begin() + (head + 1) * size);
        return floats({1, 4, x.dims()[2], x.dims()[3]}, values);
    };
    const Tensor plain = run("Attention", {q, twice(k), twice(v)});
    for (std::int64_t i = 0; i < plain.count(); ++i) EXPECT_EQ(plain.number(i), grouped.number(i));
}

TEST(Attention, RefusesWhatDoesNotFit) {
    const Tensor q = counting({1, 4, 2, 2});
    EXPECT_EQ(code("Attention", {q, counting({1, 3, 2, 2}), counting({1, 3, 2, 2})}), ErrorCode::mismatch);
    EXPECT_EQ(code("Attention", {q, counting({1, 4, 2, 3}), counting({1, 4, 2, 2})}), ErrorCode::mismatch);
    EXPECT_EQ(code("Attention", {counting({1, 2, 6}), counting({1, 2, 6}), counting({1, 2, 6})}),
              ErrorCode::mismatch);
    EXPECT_EQ(code("Attention", {q, q, q, counting({5, 5})}), ErrorCode::mismatch);
    EXPECT_EQ(code("Attention", {q, q, q, none, q}), ErrorCode::mismatch);
}

// A turn keeps the length of every pair; position 0 does not turn.
TEST(Rotary, TurnsPairs) {
    const Tensor x = floats({1, 1, 2, 2}, {3, 4, 3, 4});
    const float c = std::cos(0.5F);
    const float s = std::sin(0.5F);
    const Tensor y =
        run("RotaryEmbedding", {x, floats({2, 1}, {1, c}), floats({2, 1}, {0, s}), integers({1, 2}, {0, 1})});
    expect_floats(y, {1, 1, 2, 2}, {3, 4, 3 * c - 4 * s, 3 * s + 4 * c});
    EXPECT_EQ(code("RotaryEmbedding",
                   {x, floats({2, 1}, {1, c}), floats({2, 1}, {0, s}), integers({1, 2}, {0, 2})}),
              ErrorCode::mismatch);
}

TEST(Loss, RefusesClassesThatDoNotExist) {
    EXPECT_EQ(code("SoftmaxCrossEntropyLoss", {counting({1, 3}), integers({1}, {3})}), ErrorCode::mismatch);
    EXPECT_EQ(code("NegativeLogLikelihoodLoss", {counting({1, 3}), integers({2}, {0, 1})}),
              ErrorCode::mismatch);
    EXPECT_EQ(code("SoftmaxCrossEntropyLoss", {counting({1, 3}), integers({1}, {0})},
                   {{"reduction", std::string("most")}}),
              ErrorCode::malformed);
}

TEST(Sampling, IdentityGridReadsTheImage) {
    const Tensor x = counting({1, 1, 3, 4});
    for (const std::int64_t corners : {0, 1}) {
        const Attributes attributes = {{"align_corners", corners}};
        const Tensor grid = run(
            "AffineGrid", {floats({1, 2, 3}, {1, 0, 0, 0, 1, 0}), integers({4}, {1, 1, 3, 4})}, attributes);
        const Tensor y = run("GridSample", {x, grid}, attributes);
        for (std::int64_t i = 0; i < x.count(); ++i) EXPECT_NEAR(y.number(i), x.number(i), 1e-5);
    }
    EXPECT_EQ(code("GridSample", {x, counting({1, 2, 2, 3})}), ErrorCode::mismatch);
    EXPECT_EQ(code("AffineGrid", {counting({1, 2, 3}), integers({3}, {1, 1, 3})}), ErrorCode::mismatch);
}

TEST(Sampling, DeformableWithoutOffsetsIsAConvolution) {
    const Tensor x = counting({1, 2, 4, 4}, 0.1F);
    const Tensor w = counting({3, 2, 2, 2}, 0.05F, -0.5F);
    const Tensor b = counting({3});
    const Tensor plain = run("Conv", {x, w, b}, {{"pads", Dims{1, 1, 0, 0}}});
    const Tensor moved =
        run("DeformConv", {x, w, counting({1, 8, 4, 4}, 0), b}, {{"pads", Dims{1, 1, 0, 0}}});
    ASSERT_EQ(plain.dims(), moved.dims());
    for (std::int64_t i = 0; i < plain.count(); ++i) EXPECT_NEAR(plain.number(i), moved.number(i), 1e-4);
    EXPECT_EQ(code("DeformConv", {x, w, counting({1, 4, 4, 4}, 0)}, {{"pads", Dims{1, 1, 0, 0}}}),
              ErrorCode::mismatch);
}

TEST(Regions, PoolTheirBoxes) {
    const Tensor x = counting({1, 1, 4, 4});
    expect_floats(run("MaxRoiPool", {x, floats({1, 5}, {0, 0, 0, 3, 3})}, {{"pooled_shape", Dims{2, 2}}}),
                  {1, 1, 2, 2}, {5, 7, 13, 15});
    EXPECT_EQ(code("MaxRoiPool", {x, floats({1, 5}, {1, 0, 0, 3, 3})}, {{"pooled_shape", Dims{2, 2}}}),
              ErrorCode::mismatch);
    EXPECT_EQ(code("RoiAlign", {x, floats({1, 4}, {0, 0, 1e9F, 1}), integers({1}, {0})}),
              ErrorCode::mismatch);
}

TEST(Windows, UnpoolAndFoldUndoTheirWindows) {
    const Tensor x = counting({1, 1, 4, 4});
    const Attributes windows = {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}};
    const auto pooled = run_operator("MaxPool", {x}, windows, 2);
    const Tensor y = run("MaxUnpool", {(*pooled)[0], (*pooled)[1]}, windows);
    for (std::int64_t i = 0; i < 16; ++i)
        EXPECT_EQ(y.number(i), i == 5 || i == 7 || i == 13 || i == 15 ? static_cast<double>(i) : 0);
    EXPECT_EQ(code("MaxUnpool", {(*pooled)[0], integers({1, 1, 2, 2}, {0, 1, 2, 16})}, windows),
              ErrorCode::mismatch);
    expect_floats(
        run("Col2Im", {floats({1, 4, 1}, {1, 2, 3, 4}), integers({2}, {2, 2}), integers({2}, {2, 2})}),
        {1, 1, 2, 2}, {1, 2, 3, 4});
    EXPECT_EQ(code("Col2Im", {floats({1, 4, 1}, {1, 2, 3, 4}), integers({2}, {2, 3}), integers({2}, {2, 2})}),
              ErrorCode::mismatch);
}

TEST(Fourier, InverseUndoesTheTransform) {
    const Tensor x = floats({1, 5, 1}, {1, -2, 0.5F, 3, 4});
    const Tensor whole = run("DFT", {x});
    const Tensor half = run("DFT", {x}, {{"onesided", std::int64_t{1}}});
    EXPECT_EQ(half.dims(), (Dims{1, 3, 2}));
    const Tensor back = run("DFT", {whole}, {{"inverse", std::int64_t{1}}});
    const Tensor real = run("DFT", {half, Tensor::scalar(std::int64_t{5})},
                            {{"inverse", std::int64_t{1}}, {"onesided", std::int64_t{1}}});
    for (std::int64_t i = 0; i < 5; ++i) {
        EXPECT_NEAR(back.number(2 * i), x.number(i), 1e-5);
        EXPECT_NEAR(back.number(2 * i + 1), 0, 1e-5);
        EXPECT_NEAR(real.number(i), x.number(i), 1e-5);
    }
    EXPECT_EQ(code("DFT", {x, Tensor::scalar(std::int64_t{0})}), ErrorCode::mismatch);
    EXPECT_EQ(code("STFT", {x, Tensor::scalar(std::int64_t{0}), none, Tensor::scalar(std::int64_t{2})}),
              ErrorCode::mismatch);
    EXPECT_EQ(code("STFT", {x, Tensor::scalar(std::int64_t{1})}), ErrorCode::mismatch);
}

TEST(Movement, CachesBlocksAndBits) {
    expect_floats(run("TensorScatter", {counting({1, 3, 1}), floats({1, 2, 1}, {8, 9}), integers({1}, {2})},
                      {{"mode", std::string("circular")}}),
                  {1, 3, 1}, {9, 1, 8});
    EXPECT_EQ(code("TensorScatter", {counting({1, 3, 1}), floats({1, 2, 1}, {8, 9}), integers({1}, {2})}),
              ErrorCode::mismatch);
    EXPECT_EQ(run("BitCast", {floats({1}, {1})}, {{"to", std::int64_t{6}}}).integers(), Dims{0x3f800000});
    EXPECT_EQ(code("BitCast", {floats({1}, {1})}, {{"to", std::int64_t{7}}}), ErrorCode::malformed);
    const Tensor x = counting({2, 8, 2, 3});
    for (const char* mode : {"DCR", "CRD"}) {
        const Tensor wide =
            run("DepthToSpace", {x}, {{"blocksize", std::int64_t{2}}, {"mode", std::string(mode)}});
        EXPECT_EQ(wide.dims(), (Dims{2, 2, 4, 6}));
        if (std::string(mode) == "DCR") {
            EXPECT_TRUE(run("SpaceToDepth", {wide}, {{"blocksize", std::int64_t{2}}}).same_bytes(x));
        }
    }
    EXPECT_EQ(code("DepthToSpace", {counting({1, 3, 2, 2})}, {{"blocksize", std::int64_t{2}}}),
              ErrorCode::mismatch);
}

TEST(Movement, CentresWhatItCutsAndPads) {
    expect_floats(run("CenterCropPad", {counting({5, 2}, 1, 1), integers({2}, {2, 3})}), {2, 3},
                  {3, 4, 0, 5, 6, 0});
    EXPECT_EQ(code("CenterCropPad", {counting({5, 2}), integers({1}, {2})}), ErrorCode::mismatch);
}

TEST(Suppression, KeepsTheBestOfOverlappingBoxes) {
    const Tensor boxes = floats({1, 3, 4}, {0, 0, 1, 1, 0, 0, 1, 0.9F, 2, 2, 3, 3});
    const Tensor scores = floats({1, 1, 3}, {0.5F, 0.9F, 0.7F});
    const Tensor y =
        run("NonMaxSuppression", {boxes, scores, Tensor::scalar(std::int64_t{3}), Tensor::scalar(0.5F)});
    EXPECT_EQ(y.integers(), (Dims{0, 0, 1, 0, 0, 2}));
    EXPECT_EQ(run("NonMaxSuppression", {boxes, scores}).count(), 0);
}

}  // namespace
}  // namespace viridian::graph
