// Multi-head attention and the encoder layer against the equations of SUBSTATION (Ivanov et al., MLSys 2021,
// Figure 1), and their masks. tests/zoo/torch_layers.py holds them against torch.nn.
#include <gtest/gtest.h>

#include <cmath>

#include "viridian/base/random.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::zoo {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

Tensor normal(const Dims& dims, std::uint64_t seed) {
    Random random(seed);
    Tensor tensor(graph::ElementType::f32, dims);
    for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.normal());
    return tensor;
}

std::vector<Tensor> inputs_of(const Graph& network, std::uint64_t seed) {
    std::vector<Tensor> inputs;
    for (const ValueId id : network.inputs()) {
        const graph::TensorType& type = network.value(id).type;
        inputs.push_back(type.element == graph::ElementType::f32 ? normal(type.dims(), seed + inputs.size())
                                                                 : Tensor(type.element, type.dims()));
    }
    return inputs;
}

Tensor evaluated(const Graph& network, const std::vector<Tensor>& inputs) {
    const auto outputs = graph::evaluate(network, inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.error().text();
    return outputs.ok() ? (*outputs)[0] : Tensor();
}

const Tensor& named(const Graph& network, const std::string& name) {
    for (std::size_t i = 0; i < network.value_count(); ++i) {
        const auto id = static_cast<ValueId>(i);
        if (network.constant(id) != nullptr && network.value(id).name == name) return *network.constant(id);
    }
    ADD_FAILURE() << "no constant is called " << name;
    static const Tensor none;
    return none;
}

// [from, heads · head], or [heads · head], to [head, heads, from] and [head, heads, 1, 1].
Tensor by_heads(const Tensor& weight, std::int64_t heads) {
    const bool bias = weight.rank() == 1;
    const std::int64_t width = weight.dims().back(), from = bias ? 1 : weight.dims()[0], head = width / heads;
    Tensor out(graph::ElementType::f32, bias ? Dims{head, heads, 1, 1} : Dims{head, heads, from});
    auto entries = out.mutable_values<float>();
    for (std::int64_t p = 0; p < head; ++p)
        for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t i = 0; i < from; ++i)
                entries[static_cast<std::size_t>((p * heads + h) * from + i)] =
                    weight.values<float>()[static_cast<std::size_t>(i * width + h * head + p)];
    return out;
}

// Figure 1 (a) of the paper, without dropout: q, k and v are [I, B, J] there.
Tensor paper(const Graph& network, const std::vector<Tensor>& inputs, std::int64_t heads) {
    Graph g;
    const auto einsum = [&](const char* equation, ValueId a, ValueId b) {
        return g.add(graph::op::Einsum, {a, b}, {{"equation", std::string(equation)}});
    };
    const auto given = [&](const Tensor& x) {
        return g.add(graph::op::Transpose, {g.add_constant("x", x)}, {{"perm", Dims{2, 0, 1}}});
    };
    const auto weight = [&](const char* name) {
        return g.add_constant(name, by_heads(named(network, name), heads));
    };
    const ValueId q = given(inputs[0]), k = given(inputs[inputs.size() > 1 ? 1 : 0]);
    const ValueId v = inputs.size() > 2 ? given(inputs[2]) : k;
    const ValueId qq =
        g.add(graph::op::Add, {einsum("phi,ibj->phbj", weight("q_proj.weight"), q), weight("q_proj.bias")});
    const ValueId kk =
        g.add(graph::op::Add, {einsum("phi,ibk->phbk", weight("k_proj.weight"), k), weight("k_proj.bias")});
    const ValueId vv =
        g.add(graph::op::Add, {einsum("whi,ibk->whbk", weight("v_proj.weight"), v), weight("v_proj.bias")});
    const auto hidden = static_cast<float>(inputs[0].dims()[2]);
    const ValueId scaler =
        g.add_constant("scaler", Tensor::scalar(1 / std::sqrt(hidden / static_cast<float>(heads))));
    const ValueId beta = g.add(graph::op::Mul, {scaler, einsum("phbk,phbj->hbjk", kk, qq)});
    const ValueId alpha = g.add(graph::op::Softmax, {beta}, {{"axis", std::int64_t{-1}}});
    const ValueId gamma = einsum("whbk,hbjk->whbj", vv, alpha);
    // The output matrix reads heads: [heads · head, I] to [head, heads, I].
    const Tensor& matrix = named(network, "out_proj.weight");
    const std::int64_t width = matrix.dims()[0];
    const ValueId split =
        g.add(graph::op::Reshape, {g.add_constant("wo", matrix),
                                   g.add_constant("s", Tensor::i64({3}, Dims{heads, width / heads, width}))});
    const ValueId wo = g.add(graph::op::Transpose, {split}, {{"perm", Dims{1, 0, 2}}});
    const ValueId out = einsum("whi,whbj->ibj", wo, gamma);
    const ValueId bias = g.add_constant("bo", named(network, "out_proj.bias").reshaped({width, 1, 1}));
    g.set_outputs(
        {g.add(graph::op::Transpose, {g.add(graph::op::Add, {out, bias})}, {{"perm", Dims{1, 2, 0}}})});
    return evaluated(g, {});
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
    ASSERT_EQ(a.dims(), b.dims());
    for (std::int64_t i = 0; i < a.count(); ++i) ASSERT_NEAR(a.number(i), b.number(i), tolerance) << i;
}

TEST(Attention, IsThePapersEquations) {
    for (const Attention kind : {Attention::self, Attention::cross, Attention::general}) {
        const Graph network = *build("mha", {.batch = 2,
                                             .sequence = 5,
                                             .hidden = 24,
                                             .heads = 3,
                                             .attention = kind,
                                             .keys = kind == Attention::self ? 0 : 7});
        const auto inputs = inputs_of(network, 11);
        EXPECT_EQ(inputs.size(), kind == Attention::self ? 1U : kind == Attention::cross ? 2U : 3U);
        expect_near(evaluated(network, inputs), paper(network, inputs, 3), 2e-6);
    }
}

// A later token does not change what the decoder's attention says about an earlier one.
TEST(Attention, TheDecoderDoesNotSeeTheFuture) {
    const Graph network = *build("decoder_attention", {.sequence = 5, .hidden = 16, .heads = 2});
    auto inputs = inputs_of(network, 3);
    const Tensor before = evaluated(network, inputs);
    inputs[0].mutable_values<float>()[4 * 16] += 3;
    const Tensor after = evaluated(network, inputs);
    for (std::int64_t i = 0; i < 4 * 16; ++i) ASSERT_EQ(before.number(i), after.number(i));
    EXPECT_NE(before.number(4 * 16), after.number(4 * 16));
}

TEST(Attention, KeysThatAreMaskedDoNotMatter) {
    for (const char* name : {"mha", "encoder_layer"}) {
        const Graph network =
            *build(name, {.batch = 2, .sequence = 4, .hidden = 16, .heads = 2, .mask = Mask::padding});
        ASSERT_EQ(network.inputs().size(), 2U);
        EXPECT_EQ(network.value(network.inputs()[1]).name, "key_padding_mask");
        auto inputs = inputs_of(network, 5);
        const Tensor open = evaluated(network, inputs);
        inputs[1].mutable_values<bool>()[4 + 3] = true;  // the last key of the second sample
        const Tensor before = evaluated(network, inputs);
        for (std::int64_t i = 0; i < 4 * 16; ++i) ASSERT_EQ(open.number(i), before.number(i));
        EXPECT_NE(open.number(4 * 16), before.number(4 * 16)) << name;
        inputs[0].mutable_values<float>()[(4 + 3) * 16] += 3;
        const Tensor after = evaluated(network, inputs);
        for (std::int64_t i = 0; i < (4 + 3) * 16; ++i) ASSERT_EQ(before.number(i), after.number(i));
    }
}

TEST(Attention, RefusesChoicesThatDoNotFit) {
    const auto code = [](std::string_view name, const Options& options) {
        return build(name, options).error().code;
    };
    constexpr ErrorCode wrong = ErrorCode::invalid_argument;
    EXPECT_EQ(code("mha", {.layers = 2}), wrong);
    EXPECT_EQ(code("mha", {.hidden = 100, .heads = 3}), wrong);
    EXPECT_EQ(code("mha", {.heads = -4}), wrong);
    EXPECT_EQ(code("mha", {.keys = 7}), wrong) << "self attention";
    EXPECT_EQ(code("mha", {.attention = Attention::cross, .keys = -1}), wrong);
    EXPECT_EQ(code("mha", {.attention = Attention::cross, .mask = Mask::causal, .keys = 7}), wrong);
    EXPECT_EQ(code("encoder_layer", {.attention = Attention::cross}), wrong);
    EXPECT_EQ(code("decoder_attention", {.mask = Mask::none}), wrong);
    EXPECT_EQ(code("bert_base", {.mask = Mask::causal}), wrong);
    EXPECT_EQ(code("resnet18", {.heads = 2}), wrong);
}

}  // namespace
}  // namespace viridian::zoo
