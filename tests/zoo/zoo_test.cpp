#include "viridian/zoo/zoo.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "viridian/base/random.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/operators/row.hpp"
#include "viridian/graph/verify.hpp"

namespace viridian::zoo {
namespace {

using graph::Graph;
using graph::Tensor;

// Weights that training changes: floating constants of at least one dimension, but the running statistics of
// batch normalisations and GPT-2's copied output matrix.
std::int64_t parameter_count(const Graph& network) {
    std::set<graph::ValueId> counted;
    std::int64_t count = 0;
    for (const graph::NodeId id : network.nodes()) {
        const graph::Node& node = network.node(id);
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const Tensor* constant = network.constant(node.inputs[i]);
            const bool statistic = node.op == graph::op::BatchNormalization && i >= 3;
            if (constant == nullptr || statistic || node.name == "lm_head" || constant->rank() == 0 ||
                !graph::is_floating(constant->type()) || !counted.insert(node.inputs[i]).second)
                continue;
            count += constant->count();
        }
    }
    return count;
}

std::map<std::string, int> operators_of(const Graph& network) {
    std::map<std::string, int> counts;
    for (const graph::NodeId id : network.nodes()) ++counts[std::string(network.node(id).op.name())];
    return counts;
}

Tensor random_input(const graph::TensorType& type, std::uint64_t seed) {
    Random random(seed);
    Tensor tensor(type.element, type.dims());
    if (type.element == graph::ElementType::f32)
        for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.normal());
    else
        for (std::int64_t& value : tensor.mutable_values<std::int64_t>()) value = random.between(0, 1);
    return tensor;
}

std::vector<Tensor> random_inputs(const Graph& network, std::uint64_t seed) {
    std::vector<Tensor> inputs;
    for (const graph::ValueId id : network.inputs()) {
        inputs.push_back(random_input(network.value(id).type, seed + inputs.size()));
        if (network.value(id).name == "input_ids")
            for (std::int64_t& token : inputs.back().mutable_values<std::int64_t>())
                token = static_cast<std::int64_t>(
                    Random(seed + 100 + static_cast<std::uint64_t>(token)).below(1000));
        if (network.value(id).name == "attention_mask") inputs.back().mutable_values<std::int64_t>()[0] = 1;
    }
    return inputs;
}

double norm(const Tensor& tensor) {
    double sum = 0;
    for (const float value : tensor.values<float>()) sum += static_cast<double>(value) * value;
    return std::sqrt(sum);
}

// Outputs are finite, of the stated type, and differ between two inputs by more than `least` of their norm.
void expect_lively(const Graph& network, double least) {
    const auto first = graph::evaluate(network, random_inputs(network, 1));
    const auto second = graph::evaluate(network, random_inputs(network, 2));
    ASSERT_TRUE(first.ok()) << first.error().text();
    ASSERT_TRUE(second.ok());
    const Tensor& a = (*first)[0];
    const Tensor& b = (*second)[0];
    EXPECT_EQ(graph::text(a.tensor_type()), graph::text(network.value(network.outputs()[0]).type));
    Tensor difference = a;
    auto entries = difference.mutable_values<float>();
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] -= b.values<float>()[i];
    EXPECT_TRUE(std::isfinite(norm(a)));
    EXPECT_GT(norm(difference), least * norm(a)) << network.name;
    const double scale = norm(a) / std::sqrt(static_cast<double>(a.count()));
    EXPECT_GT(scale, 1e-3) << network.name;
    EXPECT_LT(scale, 1e3) << network.name;
}

class Published : public testing::TestWithParam<Network> {};

TEST_P(Published, HasItsParametersAndShapes) {
    Options options;
    options.keep_batch_norm = true;
    options.batch = 2;
    if (GetParam().transformer) options.sequence = 16;
    const auto network = build(GetParam().name, options);
    ASSERT_TRUE(network.ok()) << network.error().text();
    EXPECT_TRUE(graph::verify(*network).ok());
    EXPECT_EQ(parameter_count(*network), GetParam().parameters);
    for (const graph::ValueId id : network->outputs()) {
        const graph::TensorType& type = network->value(id).type;
        ASSERT_TRUE(type.known());
        EXPECT_EQ(type.dims()[0], 2);
    }
    for (const graph::NodeId id : network->nodes())
        EXPECT_NE(graph::find_operator(network->node(id)), nullptr) << network->node(id).op.name();
}

INSTANTIATE_TEST_SUITE_P(Zoo, Published, testing::ValuesIn(networks()),
                         [](const auto& entry) { return std::string(entry.param.name); });

TEST(Zoo, LooksLikeItsExports) {
    const auto resnet = operators_of(*build("resnet50"));
    EXPECT_EQ(resnet, (std::map<std::string, int>{{"Conv", 53},
                                                  {"Relu", 49},
                                                  {"MaxPool", 1},
                                                  {"Add", 16},
                                                  {"GlobalAveragePool", 1},
                                                  {"Flatten", 1},
                                                  {"Gemm", 1}}));
    EXPECT_EQ(operators_of(*build("resnet50", {.keep_batch_norm = true})).at("BatchNormalization"), 53);
    const auto squeezenet = operators_of(*build("squeezenet1_0"));
    EXPECT_EQ(squeezenet.at("Conv"), 26);
    EXPECT_EQ(squeezenet.at("Concat"), 8);
    const auto mobilenet = operators_of(*build("mobilenet_v2"));
    EXPECT_EQ(mobilenet.at("Conv"), 52);
    EXPECT_EQ(mobilenet.at("Clip"), 35);
    EXPECT_EQ(mobilenet.at("Add"), 10);
    const auto inception = operators_of(*build("inception_v3"));
    EXPECT_EQ(inception.at("Conv"), 94);
    EXPECT_EQ(inception.at("Concat"), 15);
    const auto bert = operators_of(*build("bert_base", {.sequence = 8, .layers = 2}));
    EXPECT_EQ(bert.at("MatMul"), 2 * 8);
    EXPECT_EQ(bert.at("LayerNormalization"), 2 * 2 + 1);
    EXPECT_EQ(bert.at("Erf"), 2);
    const auto gpt = operators_of(*build("gpt2", {.sequence = 8, .layers = 2}));
    EXPECT_EQ(gpt.at("Gemm"), 2 * 4);
    EXPECT_EQ(gpt.at("Split"), 2);
}

// Flop of the convolutions and matrix products as published: 2 × 4.09, 1.81, 15.47, 0.30 GMAC.
TEST(Zoo, CostsWhatWasPublished) {
    const auto gflop = [](std::string_view name) {
        const auto network = build(name);
        std::int64_t sum = 0;
        for (const graph::NodeId id : network->nodes()) {
            const graph::Node& node = network->node(id);
            std::vector<graph::TensorType> inputs;
            std::vector<graph::TensorType> outputs;
            for (const graph::ValueId value : node.inputs) inputs.push_back(network->value(value).type);
            for (const graph::ValueId value : node.outputs) outputs.push_back(network->value(value).type);
            if (node.op == graph::op::Conv || node.op == graph::op::Gemm)
                sum += graph::flop({node, inputs, outputs}).value;
        }
        return static_cast<double>(sum) * 1e-9;
    };
    EXPECT_NEAR(gflop("resnet50"), 2 * 4.09, 0.02);
    EXPECT_NEAR(gflop("resnet18"), 2 * 1.814, 0.01);
    EXPECT_NEAR(gflop("mobilenet_v2"), 2 * 0.3008, 0.002);
    EXPECT_NEAR(gflop("inception_v3"), 2 * 5.713, 0.02);
}

TEST(Zoo, FoldingKeepsTheOutputs) {
    const auto folded = build("resnet18");
    const auto kept = build("resnet18", {.keep_batch_norm = true});
    const auto inputs = random_inputs(*folded, 3);
    const auto a = graph::evaluate(*folded, inputs);
    const auto b = graph::evaluate(*kept, inputs);
    ASSERT_TRUE(a.ok() && b.ok());
    for (std::int64_t i = 0; i < 1000; ++i) ASSERT_NEAR((*a)[0].number(i), (*b)[0].number(i), 1e-4);
}

TEST(Zoo, ConvolutionalNetworksTellImagesApart) {
    for (const char* name :
         {"squeezenet1_1", "mobilenet_v2", "resnet18", "dcgan_generator", "dcgan_discriminator"})
        expect_lively(*build(name), 0.01);
}

TEST(Zoo, TransformersTellSentencesApart) {
    for (const char* name : {"bert_base", "albert_base", "gpt2"})
        expect_lively(*build(name, {.sequence = 6, .layers = 2, .hidden = 128}), 0.1);
}

// A later token does not change what GPT-2 says about an earlier one.
TEST(Zoo, CausalMaskHidesTheFuture) {
    const Graph network = *build("gpt2", {.sequence = 5, .layers = 2, .hidden = 64});
    std::vector<std::int64_t> tokens = {5, 17, 3, 8, 2};
    const auto before = graph::evaluate(network, {Tensor::i64({1, 5}, tokens)});
    tokens[4] = 40000;
    const auto after = graph::evaluate(network, {Tensor::i64({1, 5}, tokens)});
    ASSERT_TRUE(before.ok() && after.ok());
    const std::int64_t words = 50257;
    for (std::int64_t i = 0; i < 4 * words; i += 97) ASSERT_EQ((*before)[0].number(i), (*after)[0].number(i));
    EXPECT_NE((*before)[0].number(4 * words), (*after)[0].number(4 * words));
}

TEST(Zoo, SeedsDecideTheWeights) {
    const auto hash = [](std::uint64_t seed) {
        return graph::structural_hash(*build("squeezenet1_1", {.seed = seed}));
    };
    EXPECT_EQ(hash(1), hash(1));
    EXPECT_NE(hash(1), hash(2));
}

TEST(Zoo, RefusesWhatDoesNotExist) {
    EXPECT_EQ(build("resnet51").error().code, ErrorCode::missing_entry);
    EXPECT_EQ(build("resnet50", {.batch = 0}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(build("resnet50", {.sequence = 3}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(build("bert_base", {.sequence = 513}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(build("bert_base", {.hidden = 100}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(build("gpt2", {.layers = -1}).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace viridian::zoo
