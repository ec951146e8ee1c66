#include <gtest/gtest.h>

#include <filesystem>

#include "viridian/base/json.hpp"
#include "viridian/cli/run_cli.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {
namespace {

struct Outcome {
    int code;
    std::string out;
    std::string err;
};

Outcome run(const std::vector<std::string>& arguments) {
    std::vector<const char*> all = {"viridian", "zoo"};
    for (const std::string& argument : arguments) all.push_back(argument.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = run_cli(static_cast<int>(all.size()), all.data());
    return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(ZooCommand, ListsTheNetworks) {
    const auto json = parse_json(run({"--json"}).out, "stdout");
    ASSERT_TRUE(json.ok());
    EXPECT_EQ((*json)["networks"].size(), 15U);
    EXPECT_EQ((*json)["networks"][0]["name"], "alexnet");
}

TEST(ZooCommand, WritesWhatLoadReads) {
    const std::string file = testing::TempDir() + "viridian_zoo_test.onnx";
    EXPECT_EQ(run({"squeezenet1_1", "--batch", "3", "-o", file}).code, 0);
    const auto network = onnx::load(file);
    std::filesystem::remove(file);
    ASSERT_TRUE(network.ok()) << network.error().text();
    EXPECT_EQ(graph::text(network->value(network->outputs()[0]).type), "f32[3,1000]");
}

TEST(ZooCommand, ErrorsNameTheNextStep) {
    const Outcome unknown = run({"resnet51", "-o", "/tmp/unused.onnx"});
    EXPECT_EQ(unknown.code, 1);
    EXPECT_NE(unknown.err.find("resnet50"), std::string::npos);
    const Outcome nowhere = run({"resnet50"});
    EXPECT_EQ(nowhere.code, 1);
    EXPECT_NE(nowhere.err.find("-o resnet50.onnx"), std::string::npos);
    EXPECT_EQ(run({"resnet50", "--layers", "3", "-o", "/tmp/unused.onnx"}).code, 1);
}

}  // namespace
}  // namespace viridian::cli
