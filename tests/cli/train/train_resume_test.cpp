// What a resumed run may change, and what it must not.
#include "tests/cli/train_support.hpp"

namespace viridian::cli {
namespace {

using testing::HasSubstr;

class ResumedRun : public TrainCommand {
  protected:
    // A run with checkpoints; resumed if `more` says so.
    Outcome keeping(const std::string& output, std::vector<std::string> more = {}) {
        more.insert(more.end(), {"-o", folder_ + output, "--checkpoints", folder_ + "points"});
        return run(std::move(more));
    }
    // Changes a digit of the last sample.
    void change_a_value() {
        std::string samples = bytes("samples.csv");
        char& digit = samples[samples.size() - 5];
        ASSERT_TRUE(digit >= '0' && digit <= '9');
        digit = digit == '5' ? '6' : '5';
        write("samples.csv", samples);
    }
    void write(const std::string& name, const std::string& content) const {
        std::ofstream(folder_ + name, std::ios::binary) << content;
    }
};

TEST_F(ResumedRun, OtherSamplesAreRefused) {
    ASSERT_EQ(keeping("a.onnx").code, 0);
    change_a_value();
    const Outcome other = keeping("a.onnx", {"--resume", "--epochs", "2"});
    EXPECT_EQ(other.code, 1);
    EXPECT_THAT(other.err, HasSubstr("the column `features` of --data holds other values"));
    EXPECT_THAT(other.err, HasSubstr("--changed-data"));
    EXPECT_EQ(keeping("a.onnx", {"--resume", "--epochs", "2", "--changed-data"}).code, 0);
    // From here on these are the samples of the run.
    EXPECT_EQ(keeping("a.onnx", {"--resume", "--epochs", "3"}).code, 0);
    write("samples.csv", bytes("samples.csv") + "0.5,0.5,1\n");
    const Outcome more = keeping("a.onnx", {"--resume", "--epochs", "4", "--changed-data"});
    EXPECT_EQ(more.code, 1);
    EXPECT_THAT(more.err, HasSubstr("had 403 samples of f32[2] and has 404 samples of f32[2]"));
    EXPECT_THAT(keeping("b.onnx", {"--changed-data"}).err, HasSubstr("--resume"));
}

TEST_F(ResumedRun, TheSameSamplesMayHaveAnotherName) {
    ASSERT_EQ(keeping("a.onnx").code, 0);
    std::filesystem::rename(folder_ + "samples.csv", folder_ + "moved.csv");
    const Outcome moved = cli::run({"train", folder_ + "model.onnx", "--data", folder_ + "moved.csv",
                                    "--label-column", "label", "--threads", "1", "-o", folder_ + "a.onnx",
                                    "--checkpoints", folder_ + "points", "--resume"});
    EXPECT_EQ(moved.code, 0) << moved.err;
}

TEST_F(ResumedRun, SamplesOfEvaluationAreComparedToo) {
    write("eval.csv", bytes("samples.csv"));
    const std::vector<std::string> judged = {"--eval", folder_ + "eval.csv"};
    ASSERT_EQ(keeping("a.onnx", judged).code, 0);
    std::string samples = bytes("eval.csv");
    samples[samples.size() - 2] = samples[samples.size() - 2] == '1' ? '0' : '1';
    write("eval.csv", samples);
    const Outcome other = keeping("a.onnx", {"--eval", folder_ + "eval.csv", "--resume"});
    EXPECT_EQ(other.code, 1);
    EXPECT_THAT(other.err, HasSubstr("the column `label` of --eval holds other values"));
    const Outcome none = keeping("a.onnx", {"--resume"});
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("--eval was a file and is not given"));
}

TEST_F(ResumedRun, MayHaveMoreEpochsIfItsRatesStayTheSame) {
    const std::vector<std::string> schedule = {"--schedule", "step:every=2e,factor=0.5,warmup=5"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), schedule.begin(), schedule.end());
        return more;
    };
    ASSERT_EQ(run(with({"--epochs", "4", "-o", folder_ + "whole.onnx"})).code, 0);
    ASSERT_EQ(keeping("part.onnx", with({"--epochs", "2"})).code, 0);
    EXPECT_NE(bytes("part.onnx"), bytes("whole.onnx"));
    const Outcome grown = keeping("grown.onnx", with({"--epochs", "4", "--resume"}));
    ASSERT_EQ(grown.code, 0) << grown.err;
    EXPECT_EQ(bytes("grown.onnx"), bytes("whole.onnx"));
    const Outcome fewer = keeping("fewer.onnx", with({"--epochs", "3", "--resume"}));
    EXPECT_EQ(fewer.code, 1);
    EXPECT_THAT(fewer.err, HasSubstr("has finished 52 steps, which are more than 3 epochs"));
}

TEST_F(ResumedRun, MayNotHaveMoreEpochsIfTheScheduleFollowsThem) {
    ASSERT_EQ(keeping("a.onnx", {"--schedule", "cosine"}).code, 0);
    const Outcome grown = keeping("a.onnx", {"--schedule", "cosine", "--epochs", "2", "--resume"});
    EXPECT_EQ(grown.code, 1);
    EXPECT_THAT(grown.err, HasSubstr("--epochs, which the rates of --schedule follow, was 1 and is 2"));
}

}  // namespace
}  // namespace viridian::cli
