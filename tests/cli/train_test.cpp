#include "tests/cli/train_support.hpp"

namespace viridian::cli {
namespace {

using testing::HasSubstr;

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
    const std::vector<std::string> common = {"--epochs", "3", "--batch", "32"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), common.begin(), common.end());
        return more;
    };
    const auto keeping = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--checkpoints", folder_ + "points", "--every", "5", "--keep", "100"});
        return with(std::move(more));
    };
    ASSERT_EQ(run(with({"-o", folder_ + "whole.onnx"})).code, 0);
    const Outcome kept = run(keeping({"-o", folder_ + "kept.onnx"}));
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
        const Outcome resumed = run(keeping({"-o", folder_ + "resumed.onnx", "--resume"}));
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
    const Outcome wrong =
        run({"-o", folder_ + "a.onnx", "--epochs", "2", "--in-order", "--log", folder_ + "log.jsonl"});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("2"));
    EXPECT_THAT(wrong.err, HasSubstr("label"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "log.jsonl")) << "it is the last sample, found first";
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
