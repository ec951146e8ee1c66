// The beginning of a run (weights drawn anew, a new head, frozen layers), and when a run ends.
#include "tests/cli/train_support.hpp"

namespace viridian::cli {
namespace {

using testing::HasSubstr;

class TrainBegin : public TrainCommand {
  protected:
    // A line separates the two classes, so that the loss falls soon.
    void write_separable_samples() {
        std::ofstream file(folder_ + "samples.csv");
        file << "x,y,label\n";
        Random random(6);
        for (int i = 0; i < 400; ++i) {
            const double x = random.uniform(-1, 1);
            file << x << "," << random.uniform(-1, 1) << "," << (x > 0 ? 1 : 0) << "\n";
        }
    }
};

TEST_F(TrainBegin, WeightsAreDrawnBySeed) {
    const std::vector<std::string> nothing = {"--rate", "1e-30", "--weight-decay",
                                              "0"};  // what was drawn stays
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), nothing.begin(), nothing.end());
        return more;
    };
    ASSERT_EQ(run(with({"-o", folder_ + "kept.onnx"})).code, 0);
    EXPECT_EQ(numbers("kept.onnx", "one.weight"), numbers("model.onnx", "one.weight"));
    const Json drawn = run_json(with({"-o", folder_ + "a.onnx", "--initialise", "7"}));
    EXPECT_EQ(drawn["drawn"], 4);
    ASSERT_EQ(run(with({"-o", folder_ + "b.onnx", "--initialise", "7"})).code, 0);
    ASSERT_EQ(run(with({"-o", folder_ + "c.onnx", "--initialise", "8"})).code, 0);
    EXPECT_EQ(bytes("a.onnx"), bytes("b.onnx"));
    EXPECT_NE(numbers("a.onnx", "one.weight"), numbers("c.onnx", "one.weight"));
    EXPECT_NE(numbers("a.onnx", "one.weight"), numbers("model.onnx", "one.weight"));
    for (const double value : numbers("a.onnx", "one.bias")) EXPECT_LE(std::abs(value), 1 / std::sqrt(2.0));
    ASSERT_EQ(
        run(with({"-o", folder_ + "d.onnx", "--initialise", "7", "--initialise-as", "xavier-normal"})).code,
        0);
    for (const double value : numbers("d.onnx", "two.bias")) EXPECT_NEAR(value, 0, 1e-20);
    const Outcome rule = run({"-o", folder_ + "a.onnx", "--initialise", "7", "--initialise-as", "ones"});
    EXPECT_EQ(rule.code, 1);
    EXPECT_THAT(rule.err, HasSubstr("`ones` is not a way to draw weights"));
}

TEST_F(TrainBegin, FrozenWeightsAreNotDrawn) {
    ASSERT_EQ(run({"-o", folder_ + "a.onnx", "--initialise", "7", "--freeze", "one.*"}).code, 0);
    EXPECT_EQ(numbers("a.onnx", "one.weight"), numbers("model.onnx", "one.weight"));
    EXPECT_NE(numbers("a.onnx", "two.weight"), numbers("model.onnx", "two.weight"));
}

TEST_F(TrainBegin, ANewHeadTakesAnotherNumberOfClasses) {
    std::ofstream file(folder_ + "samples.csv");
    file << "x,y,label\n";
    Random random(5);
    for (int i = 0; i < 200; ++i) {
        const double x = random.uniform(-1, 1), y = random.uniform(-1, 1);
        file << x << "," << y << "," << (x < 0 ? 0 : y < 0 ? 1 : 2) << "\n";
    }
    file.close();
    const Outcome two = run({"-o", folder_ + "a.onnx"});
    EXPECT_EQ(two.code, 1) << "the model has two classes";
    const Json done = run_json({"-o", folder_ + "a.onnx", "--replace-head", "3", "--train", "two.*",
                                "--epochs", "60", "--rate", "0.02", "--eval-share", "0.2"});
    EXPECT_EQ(done["new_head"], (Json{"two.weight", "two.bias"}));
    EXPECT_EQ(done["parameters"], 16 * 3 + 3);
    EXPECT_GT(done["epochs"][59]["metrics"]["top-1"].get<double>(), 0.8);
    EXPECT_EQ(numbers("a.onnx", "one.weight"), numbers("model.onnx", "one.weight"));
    EXPECT_EQ(numbers("a.onnx", "two.bias").size(), 3U);
    const auto trained = onnx::load(folder_ + "a.onnx");
    ASSERT_TRUE(trained.ok()) << trained.error().text();
    EXPECT_EQ(graph::text(trained->value(trained->outputs()[0]).type), "f32[N,3]");
    const Outcome frozen = run({"-o", folder_ + "b.onnx", "--replace-head", "3", "--freeze", "two.bias"});
    EXPECT_EQ(frozen.code, 1);
    EXPECT_THAT(frozen.err, HasSubstr("the new head has the parameter `two.bias`, and it is frozen"));
}

TEST_F(TrainBegin, ResumedWithANewHeadAndAveragesTheBytesAreTheSame) {
    const std::vector<std::string> common = {
        "--epochs", "3", "--replace-head", "5",   "--initialise",    "2",       "--ema", "0.99",
        "--every",  "5", "--keep",         "100", "--class-weights", "balanced"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), common.begin(), common.end());
        return more;
    };
    const std::string points = folder_ + "points";
    const Outcome whole = run(with({"-o", folder_ + "whole.onnx", "--checkpoints", points}));
    ASSERT_EQ(whole.code, 0) << whole.err;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(points))
        if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
    std::ranges::sort(files);
    ASSERT_GT(files.size(), 4U);
    for (std::size_t i = 2; i < files.size(); ++i) std::filesystem::remove(files[i]);
    const Outcome resumed = run(with({"-o", folder_ + "resumed.onnx", "--checkpoints", points, "--resume"}));
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(bytes("whole.onnx"), bytes("resumed.onnx"));
}

TEST_F(TrainBegin, TheMovingAverageIsWrittenAndJudged) {
    const std::vector<std::string> common = {"--epochs", "4", "--rate", "0.05", "--eval-share", "0.25"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), common.begin(), common.end());
        return more;
    };
    const Json plain = run_json(with({"-o", folder_ + "plain.onnx"}));
    const Json slow = run_json(with({"-o", folder_ + "slow.onnx", "--ema", "0.9"}));
    const Json none = run_json(with({"-o", folder_ + "none.onnx", "--ema", "0"}));
    EXPECT_EQ(bytes("plain.onnx"), bytes("none.onnx")) << "an average that keeps nothing is the last weights";
    EXPECT_NE(bytes("plain.onnx"), bytes("slow.onnx"));
    EXPECT_EQ(plain["epochs"][3]["loss"], slow["epochs"][3]["loss"]) << "the steps are the same";
    EXPECT_NE(plain["epochs"][3]["evaluation_loss"], slow["epochs"][3]["evaluation_loss"]);
    EXPECT_EQ(run({"-o", folder_ + "a.onnx", "--ema", "1"}).code, 1);
}

TEST_F(TrainBegin, StopsWhenNothingGetsBetter) {
    const std::vector<std::string> common = {"--epochs",       "50",   "--rate",        "1e-30",
                                             "--eval-share",   "0.25", "--patience",    "3",
                                             "--weight-decay", "0",    "--checkpoints", folder_ + "points"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), common.begin(), common.end());
        return more;
    };
    const Json done = run_json(with({"-o", folder_ + "a.onnx"}));
    EXPECT_EQ(done["epochs"].size(), 4U) << "the first evaluation, and three that are no better";
    EXPECT_EQ(done["stopped_early"], true);
    const Json again = run_json(with({"-o", folder_ + "b.onnx", "--resume"}));
    EXPECT_EQ(again["epochs"].size(), 0U) << "a run that has stopped does not go on";
    EXPECT_EQ(bytes("a.onnx"), bytes("b.onnx"));
    const Outcome blind = run({"-o", folder_ + "a.onnx", "--patience", "3"});
    EXPECT_EQ(blind.code, 1);
    EXPECT_THAT(blind.err, HasSubstr("--patience counts evaluations, and there are none"));
}

TEST_F(TrainBegin, ARateIsFoundByTesting) {
    write_separable_samples();
    const Json found = run_json({"--rate-finder", "--rate-steps", "60", "--optimizer", "sgd"});
    EXPECT_EQ(found["schema"], "viridian.rate-finder/1");
    EXPECT_LE(found["trials"].size(), 60U);
    EXPECT_GT(found["suggested"].get<double>(), 1e-4);
    EXPECT_LE(found["suggested"].get<double>(), 10);
    EXPECT_EQ(found["trials"][0]["rate"], 1e-7);
    const Outcome text = run({"--rate-finder", "--optimizer", "sgd"});
    EXPECT_THAT(text.out, HasSubstr("the loss falls fastest at --rate"));
    const Outcome few = run({"--rate-finder", "--batch", "100", "--accumulate", "9"});
    EXPECT_EQ(few.code, 1);
    EXPECT_THAT(few.err, HasSubstr("give more samples, or a smaller --accumulate"));
    const Outcome range = run({"--rate-finder", "--rate-range", "1,0.1"});
    EXPECT_EQ(range.code, 1);
    EXPECT_THAT(range.err, HasSubstr("--rate-range takes two rates"));
    const Outcome output = run({});
    EXPECT_EQ(output.code, 1);
    EXPECT_THAT(output.err, HasSubstr("the file for the trained model is missing"));
}

// Without dropout and batch normalisation, 4 micro-batches of 32 are a batch of 128.
TEST_F(TrainBegin, ARateIsTestedWithTheMicroBatchesOfTheRun) {
    write_separable_samples();
    const auto losses = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--rate-finder", "--rate-steps", "60", "--optimizer", "sgd"});
        std::vector<double> all;
        const Json found = run_json(more);
        for (const Json& trial : found["trials"]) all.push_back(trial["loss"].get<double>());
        EXPECT_GE(all.size(), 12U);
        all.resize(12);
        return all;
    };
    const std::vector<double> whole = losses({"--batch", "128"}), small = losses({"--batch", "32"}),
                              parts = losses({"--batch", "32", "--accumulate", "4"});
    double apart = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_NEAR(parts[i], whole[i], 1e-4) << i;
        apart = std::max(apart, std::abs(small[i] - whole[i]));
    }
    EXPECT_GT(apart, 1e-3) << "other batches have other losses";
}

TEST_F(TrainBegin, FilesOfAStepAreCheckedBeforeAnyIsWritten) {
    const auto accumulate = [&](const std::string& model, const std::string& output) {
        return cli::run(
            {"gradient", folder_ + model, "--batch", "4", "--accumulate", "-o", folder_ + output});
    };
    std::filesystem::create_directories(folder_ + "step.apply.onnx");
    std::filesystem::create_directories(folder_ + "other.onnx");
    const Outcome refused = accumulate("model.onnx", "step.onnx");
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("step.apply.onnx"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "step.accumulate.onnx"));
    EXPECT_EQ(accumulate("model.onnx", "other.onnx").code, 0) << "nothing of this name is written";
    std::filesystem::copy(folder_ + "model.onnx", folder_ + "mine.apply.onnx");
    const Outcome own = accumulate("mine.apply.onnx", "mine.onnx");
    EXPECT_EQ(own.code, 1) << own.err;
    EXPECT_THAT(own.err, HasSubstr("would replace"));
}

// A step's file says how it was made, and a checkpoint of the same model has the same hash.
TEST_F(TrainBegin, AStepSaysHowItWasMade) {
    const auto made = [&](std::vector<std::string> more) {
        more.insert(more.begin(),
                    {"gradient", folder_ + "model.onnx", "--batch", "32", "-o", folder_ + "step.onnx"});
        const Outcome done = cli::run(more);
        EXPECT_EQ(done.code, 0) << done.err;
        const auto accumulate = folder_ + "step.accumulate.onnx";
        const auto step =
            onnx::load(std::filesystem::exists(accumulate) ? accumulate : folder_ + "step.onnx");
        EXPECT_TRUE(step.ok());
        return parse_json(step->metadata.at("viridian.training"), "the metadata").value();
    };
    const Json sgd = made({"--optimizer", "sgd", "--momentum", "0.9", "--freeze", "one.*", "--clip", "1"});
    EXPECT_EQ(sgd["optimizer"], (Json{{"kind", "sgd"}, {"momentum", 0.9}, {"nesterov", false}}));
    EXPECT_EQ(sgd["loss"],
              (Json{{"kind", "cross-entropy"}, {"label_smoothing", 0.0}, {"ignored_label", -100}}));
    EXPECT_EQ(sgd["clip"], 1.0);
    EXPECT_EQ(sgd["frozen"], (Json{"one.weight", "one.bias"}));
    EXPECT_EQ(sgd["decay"], (Json{{"two.weight", 0.0}, {"two.bias", 0.0}}));
    const Json adamw = made({"--loss", "huber", "--huber-delta", "2", "--accumulate"});
    EXPECT_EQ(adamw["optimizer"],
              (Json{{"kind", "adamw"}, {"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-8}}));
    EXPECT_EQ(adamw["loss"], (Json{{"kind", "huber"}, {"delta", 2.0}}));
    EXPECT_EQ(adamw["decay"]["two.weight"], 0.01);
    EXPECT_EQ(adamw["model"], sgd["model"]);
    ASSERT_EQ(run({"--batch", "32", "-o", folder_ + "a.onnx", "--checkpoints", folder_ + "points"}).code, 0);
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "points")) {
        if (entry.path().extension() != ".safetensors") continue;
        const auto checkpoint = read_file(entry.path());
        ASSERT_TRUE(checkpoint.ok());
        EXPECT_THAT(*checkpoint, HasSubstr(adamw["model"].get<std::string>()));
    }
}

}  // namespace
}  // namespace viridian::cli
