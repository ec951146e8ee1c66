#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/random.hpp"
#include "viridian/cli/run_cli.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {
namespace {

namespace op = graph::op;
using graph::ElementType;
using graph::Tensor;
using graph::ValueId;
using testing::HasSubstr;

struct Outcome {
    int code;
    std::string out;
    std::string err;
};

class TrainCommand : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = testing::TempDir() + "viridian_train_" +
                  testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        write_model();
        write_samples();
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Outcome run(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(),
                         {"viridian", "train", folder_ + "model.onnx", "--data", folder_ + "samples.csv",
                          "--label-column", "label", "--threads", "1"});
        std::vector<const char*> all;
        for (const std::string& argument : arguments) all.push_back(argument.c_str());
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        const int code = run_cli(static_cast<int>(all.size()), all.data());
        return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
    }

    // Two inputs, a layer of 16 rectifiers, two classes; the batch is a symbol.
    void write_model() {
        graph::Graph graph;
        Random random(3);
        const auto weights = [&](const char* name, const graph::Dims& dims) {
            Tensor made(ElementType::f32, dims);
            for (float& value : made.mutable_values<float>())
                value = static_cast<float>(random.uniform(-0.7, 0.7));
            return graph.add_constant(name, std::move(made));
        };
        const ValueId x =
            graph.add_input("points", {ElementType::f32, graph::Shape{graph::Dimension("N"), 2}});
        ValueId y = graph.add(op::Gemm, {x, weights("one.weight", {2, 16}), weights("one.bias", {16})});
        y = graph.add(op::Relu, {y});
        y = graph.add(op::Gemm, {y, weights("two.weight", {16, 2}), weights("two.bias", {2})}, {}, "scores");
        graph.set_outputs({y});
        ASSERT_TRUE(infer_types(graph).ok());
        ASSERT_TRUE(onnx::save(graph, folder_ + "model.onnx").ok());
    }

    // Points in a square; the label says whether both coordinates have the same sign.
    void write_samples() {
        Random random(4);
        std::ofstream file(folder_ + "samples.csv");
        file << "x,y,label\n";
        for (int i = 0; i < 403; ++i) {
            const double x = random.uniform(-1, 1), y = random.uniform(-1, 1);
            file << x << "," << y << "," << (x * y > 0 ? 1 : 0) << "\n";
        }
    }

    [[nodiscard]] std::string bytes(const std::string& name) const {
        const auto read = read_file(folder_ + name);
        return read.ok() ? *read : "";
    }

    std::string folder_;
};

TEST_F(TrainCommand, LearnsWhatNoLineCanSeparate) {
    const Outcome done = run({"--eval-share", "0.25", "--epochs", "40", "--rate", "0.02", "--batch", "20",
                              "-o", folder_ + "trained.onnx", "--json"});
    ASSERT_EQ(done.code, 0) << done.err;
    const auto json = parse_json(done.out, "stdout");
    ASSERT_TRUE(json.ok());
    const Json& epochs = (*json)["epochs"];
    ASSERT_EQ(epochs.size(), 40U);
    EXPECT_GT(epochs[39]["metrics"]["top-1"].get<double>(), 0.9);
    EXPECT_LT(epochs[39]["loss"].get<double>(), 0.5 * epochs[0]["loss"].get<double>());
    EXPECT_EQ(epochs[0]["samples"], 302);  // the last batch of an epoch is smaller
    const auto trained = onnx::load(folder_ + "trained.onnx");
    ASSERT_TRUE(trained.ok()) << trained.error().text();
    EXPECT_EQ(graph::text(trained->value(trained->inputs()[0]).type), "f32[N,2]");
}

TEST_F(TrainCommand, AResumedRunEndsInTheSameBytes) {
    const std::vector<std::string> common = {"--epochs", "3", "--batch", "32",
                                             "--every",  "5", "--keep",  "100"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), common.begin(), common.end());
        return more;
    };
    ASSERT_EQ(run(with({"-o", folder_ + "whole.onnx"})).code, 0);
    const Outcome kept = run(with({"-o", folder_ + "kept.onnx", "--checkpoints", folder_ + "points"}));
    ASSERT_EQ(kept.code, 0) << kept.err;
    EXPECT_EQ(bytes("whole.onnx"), bytes("kept.onnx"));
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "points"))
        if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
    std::ranges::sort(files);
    ASSERT_GT(files.size(), 4U);
    for (std::size_t cut = files.size() - 1; cut >= 1; --cut) {  // the process died before checkpoint `cut`
        std::filesystem::remove(files[cut]);
        if (cut % 3 != 0) continue;
        const Outcome resumed =
            run(with({"-o", folder_ + "resumed.onnx", "--checkpoints", folder_ + "points", "--resume"}));
        ASSERT_EQ(resumed.code, 0) << resumed.err;
        EXPECT_EQ(bytes("whole.onnx"), bytes("resumed.onnx")) << cut;
        for (std::size_t later = cut; later < files.size(); ++later) std::filesystem::remove(files[later]);
    }
}

TEST_F(TrainCommand, ARunWithOtherOptionsIsNotResumed) {
    ASSERT_EQ(run({"-o", folder_ + "a.onnx", "--checkpoints", folder_ + "points"}).code, 0);
    const Outcome other =
        run({"-o", folder_ + "a.onnx", "--checkpoints", folder_ + "points", "--resume", "--rate", "0.5"});
    EXPECT_EQ(other.code, 1);
    EXPECT_THAT(other.err, HasSubstr("--rate"));
}

TEST_F(TrainCommand, ALabelThatIsNoClassIsFoundByItsSample) {
    std::ofstream(folder_ + "samples.csv", std::ios::app) << "0.5,0.5,2\n";
    const Outcome wrong = run({"-o", folder_ + "a.onnx", "--epochs", "2"});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("2"));
    EXPECT_THAT(wrong.err, HasSubstr("label"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "a.onnx"));
}

TEST_F(TrainCommand, ALossThatIsNoNumberEndsTheRun) {
    const Outcome wild = run({"--optimizer", "sgd", "--rate", "1e30", "--epochs", "3", "-o",
                              folder_ + "a.onnx", "--checkpoints", folder_ + "points"});
    EXPECT_EQ(wild.code, 1);
    EXPECT_THAT(wild.err, HasSubstr("the loss is"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "a.onnx"));
}

TEST_F(TrainCommand, ErrorsNameTheNextStep) {
    const Outcome column = run({"-o", folder_ + "a.onnx", "--input", "points=nothing"});
    EXPECT_EQ(column.code, 1);
    EXPECT_THAT(column.err, HasSubstr("nothing"));
    const Outcome loss = run({"-o", folder_ + "a.onnx", "--loss", "hinge"});
    EXPECT_EQ(loss.code, 1);
    EXPECT_THAT(loss.err, HasSubstr("there is no loss `hinge`"));
    const Outcome nothing = run({"-o", folder_ + "a.onnx", "--optimizer", "none"});
    EXPECT_EQ(nothing.code, 1);
    EXPECT_THAT(nothing.err, HasSubstr("--optimizer none trains nothing"));
    const Outcome given = run({"-o", folder_ + "a.onnx", "--loss", "gradient"});
    EXPECT_EQ(given.code, 1);
    EXPECT_THAT(given.err, HasSubstr("--loss gradient has no loss to lower"));
    const Outcome wide = run({"-o", folder_ + "a.onnx", "--as", "f32"});
    EXPECT_EQ(wide.code, 1);
    EXPECT_THAT(wide.err, HasSubstr("--as changes the parameters"));
    const Outcome metric = run({"-o", folder_ + "a.onnx", "--eval-share", "0.2", "--metric", "mse"});
    EXPECT_EQ(metric.code, 1) << "two scores a sample are no number";
    EXPECT_FALSE(std::filesystem::exists(folder_ + "a.onnx"));
    const Outcome resume = run({"-o", folder_ + "a.onnx", "--resume"});
    EXPECT_EQ(resume.code, 1);
    EXPECT_THAT(resume.err, HasSubstr("--checkpoints"));
    ASSERT_EQ(run({"-o", folder_ + "a.onnx", "--checkpoints", folder_ + "points"}).code, 0);
    const Outcome used = run({"-o", folder_ + "a.onnx", "--checkpoints", folder_ + "points"});
    EXPECT_EQ(used.code, 1);
    EXPECT_THAT(used.err, HasSubstr("holds the checkpoints of an earlier run"));
}

}  // namespace
}  // namespace viridian::cli
