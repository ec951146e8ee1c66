// Fused operators equal the standard ones they fuse; whole models: tests/zoo/networks_in_onnxruntime.py.
#include <cmath>

#include "operator_support.hpp"

namespace viridian::graph {
namespace {

Tensor fused(const char* op, const std::vector<Tensor>& inputs, Attributes attributes = {}) {
    const auto outputs = run_operator(op, inputs, std::move(attributes), 1, "com.microsoft");
    EXPECT_TRUE(outputs.ok()) << op << ": " << (outputs.ok() ? "" : outputs.error().text());
    return outputs.ok() ? (*outputs)[0] : Tensor();
}
void expect_same(const Tensor& a, const Tensor& b) {
    ASSERT_EQ(a.dims(), b.dims());
    for (std::int64_t i = 0; i < a.count(); ++i) EXPECT_NEAR(a.number(i), b.number(i), 1e-5);
}

TEST(Fused, ConvolutionAddsAndActivates) {
    const Tensor x = counting({1, 2, 3, 3}, 0.1F, -1);
    const Tensor w = counting({2, 2, 1, 1}, 0.5F, -1);
    const Tensor z = counting({1, 2, 3, 3}, -0.2F, 1);
    const Tensor b = counting({2});
    const Tensor sum = run("Add", {run("Conv", {x, w, b}), z});
    expect_same(fused("FusedConv", {x, w, b, z}, {{"activation", std::string("Relu")}}), run("Relu", {sum}));
    expect_same(
        fused("FusedConv", {x, w, b, z},
              {{"activation", std::string("Clip")}, {"activation_params", std::vector<double>{0, 0.5}}}),
        run("Clip", {sum, Tensor::scalar(0.0F), Tensor::scalar(0.5F)}));
    EXPECT_FALSE(
        run_operator("FusedConv", {x, w, b, z}, {{"activation", std::string("Nonsense")}}, 1, "com.microsoft")
            .ok());
    EXPECT_FALSE(run_operator("FusedConv", {x, w, b, b}, {}, 1, "com.microsoft").ok());
}

TEST(Fused, MatMulTransposesAndScales) {
    const Tensor a = counting({2, 3, 2}, 0.5F);
    const Tensor b = counting({2, 4, 3});
    const Tensor plain = run("MatMul", {run("Transpose", {a}, {{"perm", Dims{0, 2, 1}}}),
                                        run("Transpose", {b}, {{"perm", Dims{0, 2, 1}}})});
    expect_same(fused("FusedMatMul", {a, b},
                      {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}, {"alpha", 0.5}}),
                run("Mul", {plain, Tensor::scalar(0.5F)}));
    EXPECT_FALSE(run_operator("FusedMatMul", {a, b}, {}, 1, "com.microsoft").ok());
}

TEST(Fused, GeluWithBias) {
    const Tensor x = counting({2, 3}, 0.5F, -1);
    const Tensor b = counting({3}, 0.3F);
    const Tensor sum = run("Add", {x, b});
    expect_same(fused("BiasGelu", {x, b}), run("Gelu", {sum}));
    expect_same(fused("FastGelu", {x, b}), run("Gelu", {sum}, {{"approximate", std::string("tanh")}}));
    EXPECT_FALSE(run_operator("BiasGelu", {x, counting({2})}, {}, 1, "com.microsoft").ok());
}

TEST(Fused, NormalizesTheSumWithASkip) {
    const Tensor x = counting({2, 2, 3}, 0.5F, -1);
    const Tensor skip = floats({2, 3}, {1, 0, 2, -3, 1, 4});
    const Tensor gamma = counting({3}, 1, 1);
    const Tensor beta = counting({3}, 0.1F);
    const Tensor bias = counting({3}, -0.7F);
    const Tensor sum = run("Add", {run("Add", {x, skip}), bias});
    const auto outputs =
        run_operator("SkipLayerNormalization", {x, skip, gamma, beta, bias}, {}, 4, "com.microsoft");
    ASSERT_TRUE(outputs.ok()) << outputs.error().text();
    expect_same((*outputs)[0], run("LayerNormalization", {sum, gamma, beta}));
    expect_same((*outputs)[3], sum);
    expect_same(fused("SkipSimplifiedLayerNormalization", {x, skip, gamma, bias}),
                run("RMSNormalization", {sum, gamma}));
}

}  // namespace
}  // namespace viridian::graph
