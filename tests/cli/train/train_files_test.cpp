// Files that `viridian train` cannot write: what was trained stays.
#include "tests/cli/train_support.hpp"

namespace viridian::cli {
namespace {

using testing::HasSubstr;

class TrainFiles : public TrainCommand {};

TEST_F(TrainFiles, AreTriedBeforeTheFirstStep) {
    for (const std::vector<std::string>& files :
         {std::vector<std::string>{"--log", folder_ + "none/log.jsonl"},
          {"--record", folder_ + "model.onnx/run"},
          {"--html", folder_ + "none/page.html"},
          {"--tensorboard", folder_ + "model.onnx/events"}}) {
        std::vector<std::string> arguments = {"-o", folder_ + "a.onnx", "--checkpoints", folder_ + "points"};
        arguments.insert(arguments.end(), files.begin(), files.end());
        const Outcome wrong = run(arguments);
        EXPECT_EQ(wrong.code, 2) << files[0];
        EXPECT_THAT(wrong.err, HasSubstr(files[1].substr(0, files[1].rfind('/'))));
        EXPECT_FALSE(std::filesystem::exists(folder_ + "points/step-000000000013.safetensors")) << files[0];
    }
}

// Samples and the model are the user's only copy, perhaps.
TEST_F(TrainFiles, NothingThatIsReadIsReplaced) {
    const std::string samples = bytes("samples.csv"), model = bytes("model.onnx");
    for (const char* option : {"--log", "--html", "--record", "--checkpoints", "--tensorboard", "-o"})
        for (const char* file : {"samples.csv", "model.onnx"}) {
            std::vector<std::string> arguments = {option, folder_ + file};
            if (std::string(option) != "-o") arguments.insert(arguments.end(), {"-o", folder_ + "a.onnx"});
            const Outcome wrong = run(arguments);
            EXPECT_EQ(wrong.code, 1) << option << file;
            EXPECT_THAT(wrong.err, HasSubstr("which this command reads")) << option << file;
        }
    const Outcome twice = run({"-o", folder_ + "a.onnx", "--log", folder_ + "a.onnx"});
    EXPECT_EQ(twice.code, 1);
    EXPECT_THAT(twice.err, HasSubstr("are the same file, and both would be written"));
    EXPECT_EQ(bytes("samples.csv"), samples);
    EXPECT_EQ(bytes("model.onnx"), model);
    EXPECT_FALSE(std::filesystem::exists(folder_ + "a.onnx"));
    const Outcome among =
        cli::run({"train", folder_ + "model.onnx", "--data", folder_, "-o", folder_ + "points/a.onnx"});
    EXPECT_EQ(among.code, 1);
    EXPECT_THAT(among.err, HasSubstr("would lie among the samples in the folder"));
}

TEST_F(TrainFiles, ALogThatFailsLaterIsAWarningBesideTheSummary) {
    const Outcome done = run({"-o", folder_ + "a.onnx", "--log", "/dev/full"});
    EXPECT_EQ(done.code, 2);
    EXPECT_THAT(done.err, HasSubstr("warning: no space left to write `/dev/full`"));
    EXPECT_THAT(done.out, HasSubstr("done: 13 steps"));
    EXPECT_TRUE(std::filesystem::exists(folder_ + "a.onnx"));
}

TEST_F(TrainFiles, AModelThatCannotBeWrittenIsInTheCheckpoint) {
    const Outcome full = run({"-o", "/dev/full", "--checkpoints", folder_ + "points"});
    EXPECT_EQ(full.code, 2);
    EXPECT_THAT(full.err, HasSubstr("no space left to write `/dev/full`"));
    EXPECT_THAT(full.err, HasSubstr("step-000000000013.safetensors` holds the weights"));
    const Outcome again = run({"-o", folder_ + "a.onnx", "--checkpoints", folder_ + "points", "--resume"});
    EXPECT_EQ(again.code, 0) << again.err;
    ASSERT_EQ(run({"-o", folder_ + "whole.onnx"}).code, 0);
    EXPECT_EQ(bytes("a.onnx"), bytes("whole.onnx"));
}

}  // namespace
}  // namespace viridian::cli
