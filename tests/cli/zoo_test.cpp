#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/greedy.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/base/json.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::cli {
namespace {

Outcome run_zoo(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "zoo");
    return run(arguments);
}

TEST(ZooCommand, ListsTheNetworks) {
    const auto json = parse_json(run_zoo({"--json"}).out, "stdout");
    ASSERT_TRUE(json.ok());
    EXPECT_EQ((*json)["networks"].size(), 23U);
    EXPECT_EQ((*json)["networks"][0]["name"], "alexnet");
}

TEST(ZooCommand, WritesWhatLoadReads) {
    const tests::TemporaryFolder folder;
    const std::string file = (folder / "network.onnx").string();
    EXPECT_EQ(run_zoo({"squeezenet1_1", "--batch", "3", "-o", file}).code, 0);
    const auto network = onnx::load(file);
    ASSERT_TRUE(network.ok()) << network.error().text();
    EXPECT_EQ(graph::text(network->value(network->outputs()[0]).type), "f32[3,1000]");
}

TEST(ZooCommand, ErrorsNameTheNextStep) {
    const Outcome unknown = run_zoo({"resnet51", "-o", "/tmp/unused.onnx"});
    EXPECT_EQ(unknown.code, 1);
    EXPECT_NE(unknown.err.find("resnet50"), std::string::npos);
    const Outcome nowhere = run_zoo({"resnet50"});
    EXPECT_EQ(nowhere.code, 1);
    EXPECT_NE(nowhere.err.find("-o resnet50.onnx"), std::string::npos);
    EXPECT_EQ(run_zoo({"resnet50", "--layers", "3", "-o", "/tmp/unused.onnx"}).code, 1);
}

double norm(std::span<const float> values) {
    double sum = 0;
    for (const float value : values) sum += static_cast<double>(value) * value;
    return std::sqrt(sum);
}

// A proof by outputs says little of a network whose outputs hardly depend on its inputs.
class Network : public testing::TestWithParam<zoo::Network> {};

TEST_P(Network, TellsItsInputsApart) {
    zoo::Options options;
    if (GetParam().transformer) options.sequence = 8, options.hidden = 128;  // all its layers
    const auto network = zoo::build(GetParam().name, options);
    ASSERT_TRUE(network.ok()) << network.error().text();
    const auto device = execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {}});
    ASSERT_TRUE(device.ok()) << device.error().text();
    std::vector<graph::Tensor> outputs;
    for (const std::uint64_t seed : {1, 2}) {
        const auto inputs = prove::seeded_inputs(*network, seed);
        ASSERT_TRUE(inputs.ok());
        auto ran = execute::run_greedily(**device, *network, *inputs);
        ASSERT_TRUE(ran.ok()) << ran.error().text();
        outputs.push_back(ran->outputs[0]);
    }
    const auto first = outputs[0].values<float>();
    std::vector<float> difference(first.begin(), first.end());
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= outputs[1].values<float>()[i];
    const double size = norm(first);
    const double root_mean_square = size / std::sqrt(static_cast<double>(first.size()));
    EXPECT_GT(norm(difference) / size, 0.01);
    EXPECT_GT(root_mean_square, 0.01);
    EXPECT_LT(root_mean_square, 100);
    RecordProperty("difference", fmt::format("{:.3g}", norm(difference) / size));
    RecordProperty("root_mean_square", fmt::format("{:.3g}", root_mean_square));
}

INSTANTIATE_TEST_SUITE_P(Zoo, Network, testing::ValuesIn(zoo::networks()),
                         [](const auto& entry) { return std::string(entry.param.name); });

}  // namespace
}  // namespace viridian::cli
