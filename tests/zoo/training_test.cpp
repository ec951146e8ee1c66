// The training forms of the networks: dropout, statistics of the batch, and what differs from the forms for
// inference.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "viridian/base/random.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/verify.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::zoo {
namespace {

using graph::Graph;
using graph::Node;
using graph::Tensor;

std::vector<const Node*> nodes_of(const Graph& network, graph::KnownOperator op) {
    std::vector<const Node*> found;
    for (const graph::NodeId id : network.nodes())
        if (network.node(id).op == op) found.push_back(&network.node(id));
    return found;
}

Options small(const Network& entry) {
    Options options;
    options.batch = 2;
    if (entry.transformer) options.sequence = 8, options.hidden = 128;
    if (entry.transformer && !entry.single_layer) options.layers = 2;
    return options;
}

struct Dropouts {
    std::size_t dropouts;
    double rate;
};

// torchvision, Hugging Face (ALBERT: version 2) and torch.nn: the number of dropouts, and their rate.
const std::map<std::string_view, Dropouts> published = {{"alexnet", {2, 0.5}},
                                                        {"vgg16", {2, 0.5}},
                                                        {"squeezenet1_0", {1, 0.5}},
                                                        {"squeezenet1_1", {1, 0.5}},
                                                        {"resnet18", {0, 0}},
                                                        {"resnet50", {0, 0}},
                                                        {"resnet152", {0, 0}},
                                                        {"inception_v3", {1, 0.5}},
                                                        {"mobilenet_v2", {1, 0.2}},
                                                        {"dcgan_generator", {0, 0}},
                                                        {"dcgan_discriminator", {0, 0}},
                                                        {"bert_base", {1 + 2 * 3, 0.1}},
                                                        {"bert_large", {1 + 2 * 3, 0.1}},
                                                        {"albert_base", {0, 0}},
                                                        {"gpt2", {1 + 2 * 3, 0.1}},
                                                        {"gpt2_medium", {1 + 2 * 3, 0.1}},
                                                        {"encoder_layer", {2 * 4, 0.1}},
                                                        {"mha", {1, 0.1}},
                                                        {"decoder_attention", {1, 0.1}},
                                                        {"mlp", {0, 0}},
                                                        {"small_cnn", {1, 0.5}},
                                                        {"small_resnet", {0, 0}},
                                                        {"small_transformer", {1 + 2 * 3, 0.1}}};

class TrainingForm : public testing::TestWithParam<Network> {};

TEST_P(TrainingForm, HasItsDropoutsAndBatchNormalisations) {
    Options options = small(GetParam());
    options.keep_batch_norm = true;
    const auto inference = build(GetParam().name, options);
    options.keep_batch_norm = false;
    options.training = true;
    const auto training = build(GetParam().name, options);
    ASSERT_TRUE(inference.ok() && training.ok());
    EXPECT_TRUE(graph::verify(*training).ok());
    EXPECT_TRUE(nodes_of(*inference, graph::op::Dropout).empty());

    ASSERT_TRUE(published.contains(GetParam().name)) << "say which dropouts the network has";
    const Dropouts& expected = published.at(GetParam().name);
    const auto dropouts = nodes_of(*training, graph::op::Dropout);
    EXPECT_EQ(dropouts.size(), expected.dropouts);
    for (const Node* node : dropouts) {
        EXPECT_EQ(training->constant(node->inputs[1])->number(0), static_cast<float>(expected.rate));
        EXPECT_EQ(training->constant(node->inputs[2])->integer(0), 1) << "training_mode";
    }
    const auto norms = nodes_of(*training, graph::op::BatchNormalization);
    EXPECT_EQ(norms.size(), nodes_of(*inference, graph::op::BatchNormalization).size());
    for (const Node* node : norms) {
        EXPECT_EQ(node->integer("training_mode", 0), 1);
        EXPECT_EQ(node->outputs.size(), 3U) << "the new statistics";
        EXPECT_EQ(training->value(node->outputs[1]).name, node->name + ".new_running_mean");
        EXPECT_EQ(training->value(node->outputs[2]).name, node->name + ".new_running_var");
    }
    EXPECT_EQ(training->outputs().size(), inference->outputs().size());
}

INSTANTIATE_TEST_SUITE_P(Zoo, TrainingForm, testing::ValuesIn(networks()),
                         [](const auto& entry) { return std::string(entry.param.name); });

Tensor random_tensor(const graph::TensorType& type, std::uint64_t seed) {
    Random random(seed);
    Tensor tensor(type.element, type.dims());
    if (type.element == graph::ElementType::f32)
        for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.normal());
    else if (type.element == graph::ElementType::i64)
        for (std::int64_t& value : tensor.mutable_values<std::int64_t>()) value = random.between(0, 1);
    return tensor;
}

std::vector<Tensor> outputs_of(const Graph& network) {
    std::vector<Tensor> inputs;
    for (const graph::ValueId id : network.inputs())
        inputs.push_back(random_tensor(network.value(id).type, inputs.size() + 1));
    auto outputs = graph::evaluate(network, inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.error().text();
    return outputs.ok() ? *outputs : std::vector<Tensor>();
}

// Without dropout, a transformer trains with what it infers with.
TEST(TrainingForms, DropoutOfZeroIsTheFormForInference) {
    for (const Network& entry : networks()) {
        if (!entry.transformer) continue;
        Options options = small(entry);
        const auto inference = build(entry.name, options);
        options.training = true;
        options.dropout = 0;
        const auto training = build(entry.name, options);
        ASSERT_TRUE(inference.ok() && training.ok()) << entry.name;
        EXPECT_TRUE(nodes_of(*training, graph::op::Dropout).empty());
        const auto a = outputs_of(*inference), b = outputs_of(*training);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].same_bytes(b[i])) << entry.name;
    }
}

TEST(TrainingForms, TheRateCanBeChosen) {
    const auto network = build("encoder_layer", {.training = true, .dropout = 0.25, .sequence = 4});
    ASSERT_TRUE(network.ok());
    for (const Node* node : nodes_of(*network, graph::op::Dropout))
        EXPECT_EQ(network->constant(node->inputs[1])->number(0), 0.25);
}

// A change of the embeddings has to change the logits too: both are one parameter.
TEST(TrainingForms, Gpt2SharesItsEmbeddings) {
    const auto network = build("gpt2", {.training = true, .sequence = 4, .layers = 1, .hidden = 64});
    ASSERT_TRUE(network.ok());
    const Node* head = network->producer(network->outputs()[0]);
    const Node* transpose = network->producer(head->inputs[1]);
    ASSERT_NE(transpose, nullptr);
    EXPECT_EQ(network->value(transpose->inputs[0]).name, "wte.weight");
}

// What follows a batch normalisation of the batch has its bias as mean and its scale as deviation.
TEST(TrainingForms, BatchNormalisationTakesTheStatisticsOfTheBatch) {
    Graph network = *build("small_resnet", {.batch = 3, .training = true});
    const Node& norm = *nodes_of(network, graph::op::BatchNormalization)[0];
    const Tensor scale = *network.constant(norm.inputs[1]), bias = *network.constant(norm.inputs[2]);
    network.set_outputs({norm.outputs[0]});
    const Tensor y = outputs_of(network)[0];
    const std::int64_t plane = 28 * 28, channels = y.dims()[1];
    for (std::int64_t c = 0; c < channels; ++c) {
        double sum = 0, squares = 0;
        for (std::int64_t n = 0; n < 3; ++n)
            for (std::int64_t i = 0; i < plane; ++i) {
                const double value = y.number((n * channels + c) * plane + i);
                sum += value;
                squares += value * value;
            }
        const double count = 3.0 * static_cast<double>(plane), mean = sum / count;
        EXPECT_NEAR(mean, bias.number(c), 1e-4);
        EXPECT_NEAR(std::sqrt(squares / count - mean * mean), std::abs(scale.number(c)), 1e-3);
    }
}

TEST(TrainingForms, RefusesRatesThatAreNone) {
    EXPECT_EQ(build("encoder_layer", {.dropout = 0.1}).error().code, ErrorCode::invalid_argument);
    for (const double rate : {-0.1, 1.0, std::nan("")})
        EXPECT_EQ(build("encoder_layer", {.training = true, .dropout = rate}).error().code,
                  ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace viridian::zoo
