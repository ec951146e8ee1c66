#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cli/run_cli.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {
namespace {

using graph::ElementType;

// x[N,3,8,8] → Conv (4 filters of 3x3, padded) → Relu → y.
class Inspect : public testing::Test {
  protected:
    void SetUp() override {
        graph::Graph graph;
        const auto x = graph.add_input("x", {ElementType::f32, graph::Shape{graph::Dimension("N"), 3, 8, 8}});
        const auto w = graph.add_constant("w", graph::Tensor(ElementType::f32, {4, 3, 3, 3}));
        const auto c = graph.add("Conv", {x, w}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}}, "conv");
        graph.set_outputs({graph.add("Relu", {c}, {}, "relu")});
        ASSERT_TRUE(onnx::save(graph, model_).ok());
    }

    std::pair<int, std::string> run(std::vector<std::string> more) const {
        std::vector<std::string> all = {"viridian", "inspect", model_.string()};
        all.insert(all.end(), more.begin(), more.end());
        std::vector<const char*> arguments;
        for (const std::string& argument : all) arguments.push_back(argument.c_str());
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        const int code = run_cli(static_cast<int>(arguments.size()), arguments.data());
        (void)testing::internal::GetCapturedStderr();
        return {code, testing::internal::GetCapturedStdout()};
    }

    const tests::TemporaryFolder folder_;
    const Path model_ = folder_ / "model.onnx";
};

TEST_F(Inspect, CountsWhatTheShapesSay) {
    const auto [code, out] = run({"--dim", "N=2", "--json"});
    ASSERT_EQ(code, 0);
    const auto json = parse_json(out, "stdout");
    ASSERT_TRUE(json.ok());
    const std::int64_t outputs = 2 * 4 * 8 * 8;
    const Json conv = (*json)["nodes"][0];
    EXPECT_EQ(conv["name"], "conv");
    EXPECT_EQ(conv["class"], "contraction");
    EXPECT_EQ(conv["flop"], outputs * 27 * 2);
    EXPECT_EQ(conv["bytes_read"], (2 * 3 * 8 * 8 + 4 * 27) * 4);
    EXPECT_EQ(conv["bytes_written"], outputs * 4);
    EXPECT_EQ(conv["outputs"][0]["type"], "f32[2,4,8,8]");
    EXPECT_EQ((*json)["total"]["flop"], outputs * 27 * 2 + outputs);
    EXPECT_EQ((*json)["parameters"], 4 * 27);
    EXPECT_EQ((*json)["memory"]["peak_activation_bytes"], (2 * 3 * 8 * 8 + 2 * outputs) * 4);
    EXPECT_EQ((*json)["inputs"][0]["name"], "x");
}

TEST_F(Inspect, FreeDimensionsAreNamed) {
    const auto [code, out] = run({});
    EXPECT_EQ(code, 0);
    EXPECT_NE(out.find("Dimension `N` is free"), std::string::npos);
    EXPECT_NE(out.find("f32[N,3,8,8]"), std::string::npos);
    EXPECT_NE(out.find("not counted"), std::string::npos);
}

TEST_F(Inspect, WrongDimensionsAreRefused) {
    EXPECT_EQ(run({"--dim", "N"}).first, 1);
    EXPECT_EQ(run({"--dim", "N=-1"}).first, 1);
    EXPECT_EQ(run({"--dim", "M=2"}).first, 1);
}

TEST_F(Inspect, SizesThatNoMachineHasAreRefused) {
    EXPECT_EQ(run({"--dim", "N=9223372036854775807"}).first, 1);
    EXPECT_EQ(run({"--dim", "N=1000000000000"}).first, 1);
}

TEST_F(Inspect, BatchBindsTheFirstDimension) {
    EXPECT_EQ(run({"--batch", "2", "--json"}).second, run({"--dim", "N=2", "--json"}).second);
}

TEST_F(Inspect, WhatIsNotKnownIsNotZero) {
    EXPECT_NE(run({}).second.find("an unknown size of activations"), std::string::npos);
    EXPECT_TRUE((*parse_json(run({"--json"}).second, "stdout"))["memory"]["peak_activation_bytes"].is_null());
}

TEST_F(Inspect, QuantisedWeightsAreParametersAndShapesAreNot) {
    graph::Graph graph;
    const auto x = graph.add_input("x", {ElementType::u8, graph::Shape{2, 6}});
    const auto w = graph.add_constant("w", graph::Tensor(ElementType::i8, {6, 5}));
    const std::int64_t sizes[] = {5, 2};
    const auto shape = graph.add_constant("shape", graph::Tensor::i64({2}, sizes));
    graph.set_outputs({graph.add("Reshape", {graph.add("MatMulInteger", {x, w}), shape})});
    ASSERT_TRUE(onnx::save(graph, model_).ok());
    EXPECT_EQ((*parse_json(run({"--json"}).second, "stdout"))["parameters"], 6 * 5);
}

// There is a row for each kernel of a plan. The convolution reads and writes each of its tensors once.
TEST_F(Inspect, MeasuresTheKernelsOfAPlan) {
    const std::string optimised = (folder_ / "fused.onnx").string();
    const Outcome made =
        cli::run({"optimize", model_.string(), "--dim", "N=2", "--search", "none", "--threads", "1", "--db",
                  (folder_ / "prices.db").string(), "-o", optimised});
    ASSERT_EQ(made.code, 0) << made.err;
    const Outcome done =
        cli::run({"inspect", (folder_ / "fused.plan.json").string(), "--measured", "--json"});
    ASSERT_EQ(done.code, 0) << done.err;
    const auto json = parse_json(done.out, "stdout");
    ASSERT_TRUE(json.ok());
    EXPECT_EQ((*json)["measured"]["threads"], 1);
    const Json& rows = (*json)["measured"]["operators"];
    double seconds = 0;
    std::int64_t flop = 0;
    for (const Json& row : rows) {
        seconds += row["seconds"].get<double>();
        flop += row["flop"].get<std::int64_t>();
        EXPECT_FALSE(row["reads_bf16"]);
        EXPECT_GT(row["words_read"], 0);
    }
    const std::int64_t outputs = 2 * 4 * 8 * 8;
    EXPECT_EQ(flop, (*json)["total"]["flop"]);
    EXPECT_GE(flop, outputs * 27 * 2);
    EXPECT_NEAR(seconds, (*json)["measured"]["seconds"].get<double>(), 1e-12);
    const auto product =
        std::ranges::find_if(rows, [](const Json& row) { return row["class"] == "contraction"; });
    ASSERT_NE(product, rows.end()) << rows.dump();
    EXPECT_EQ((*product)["words_read"], 2 * 3 * 8 * 8 + 4 * 27);
    EXPECT_EQ((*product)["words_written"], outputs);
}

// Each operator is there once with its words, and the times of all parts add up.
TEST_F(Inspect, MeasuresEachOperator) {
    const auto [code, out] =
        run({"--dim", "N=2", "--fusion", "none", "--measured", "--threads", "1", "--json"});
    ASSERT_EQ(code, 0);
    const auto json = parse_json(out, "stdout");
    ASSERT_TRUE(json.ok());
    const Json& measured = (*json)["measured"];
    EXPECT_EQ(measured["threads"], 1);
    EXPECT_GE(measured["runs"], 5);
    EXPECT_GT(measured["peak_flop_per_second"], 0);
    EXPECT_GT(measured["peak_bytes_per_second"], 0);
    ASSERT_EQ(measured["operators"].size(), 2U);
    double seconds = 0, words = 0;
    for (const Json& each : measured["operators"]) {
        const double own = each["seconds"],
                     moved = each["words_read"].get<double>() + each["words_written"].get<double>();
        seconds += own;
        words += moved;
        EXPECT_GT(own, 0);
        EXPECT_NEAR(each["mue"], 100 * 4 * moved / own / measured["peak_bytes_per_second"].get<double>(),
                    1e-6);
        EXPECT_NEAR(each["percent_of_peak"],
                    100 * each["flop"].get<double>() / own / measured["peak_flop_per_second"].get<double>(),
                    1e-6);
        EXPECT_EQ(each["residency"], "L2");
    }
    const std::int64_t outputs = 2 * 4 * 8 * 8;
    EXPECT_EQ(measured["operators"][0]["flop"], outputs * 27 * 2);
    EXPECT_EQ(words, (*json)["fusion"]["words_read"].get<double>() +
                         (*json)["fusion"]["words_written"].get<double>());
    double shares = 0;
    for (const Json& each : measured["classes"]) shares += each["seconds_share"].get<double>();
    EXPECT_NEAR(shares, 100, 1e-6);
    const double elsewhere = measured["classes"].back()["seconds"];
    EXPECT_NEAR(seconds + elsewhere, measured["seconds"], 1e-9);
}

}  // namespace
}  // namespace viridian::cli
