// Tests that `train` writes the weights of the best or of the last evaluation, and that it compares the
// written file with the run.
#include "tests/cli/train_support.hpp"
#include "viridian/cli/train/task.hpp"
#include "viridian/cli/train/written_model.hpp"

namespace viridian::cli {
namespace {

using testing::HasSubstr;

class TrainExport : public TrainCommand {
  protected:
    // Few samples and a high rate: the best evaluation is not the last one.
    Json judged(const std::string& output, std::vector<std::string> more) {
        more.insert(more.end(), {"--eval-share", "0.7", "--rate", "0.3", "--metric", "cross-entropy", "-o",
                                 folder_ + output});
        return run_json(std::move(more));
    }
    // The epoch with the least metric; the first of equally good ones.
    static std::int64_t best_epoch(const Json& json) {
        std::int64_t best = 1;
        double least = 1e300;
        for (const Json& epoch : json["epochs"])
            if (const double score = epoch["metrics"]["cross-entropy"]; score < least) {
                least = score;
                best = epoch["epoch"];
            }
        return best;
    }
};

TEST_F(TrainExport, TheBestWeightsAreThoseOfTheBestEpoch) {
    const Json all = judged("best.onnx", {"--epochs", "12", "--export", "best"});
    const std::int64_t best = best_epoch(all);
    ASSERT_LT(best, 12) << "choose other samples: the last evaluation is the best";
    EXPECT_EQ(all["weights"]["kind"], "best");
    EXPECT_EQ(all["weights"]["epoch"], best);
    EXPECT_EQ(all["weights"]["metric"], "cross-entropy");
    EXPECT_EQ(all["weights"]["score"],
              all["epochs"][static_cast<std::size_t>(best - 1)]["metrics"]["cross-entropy"]);
    const Json until = judged("until.onnx", {"--epochs", std::to_string(best)});
    EXPECT_EQ(until["weights"]["kind"], "last");
    EXPECT_EQ(until["weights"]["epoch"], best);
    EXPECT_EQ(bytes("best.onnx"), bytes("until.onnx"));
    static_cast<void>(judged("last.onnx", {"--epochs", "12"}));
    EXPECT_NE(bytes("last.onnx"), bytes("until.onnx"));
    // With patience the best is written unless the last is asked for.
    const Json patient = judged("patient.onnx", {"--epochs", "12", "--patience", "3"});
    EXPECT_EQ(patient["weights"]["kind"], "best");
    EXPECT_EQ(judged("x.onnx", {"--epochs", "12", "--patience", "3", "--export", "last"})["weights"]["kind"],
              "last");
}

TEST_F(TrainExport, AResumedRunFindsTheBestWeightsInItsFolder) {
    for (const bool average : {false, true}) {
        const std::string points = folder_ + (average ? "averaged" : "points");
        const auto with = [&](std::vector<std::string> more) {
            if (average) more.insert(more.end(), {"--ema", "0.5"});
            more.insert(more.end(), {"--export", "best"});
            return more;
        };
        const Json whole = judged("whole.onnx", with({"--epochs", "12"}));
        const std::int64_t best = best_epoch(whole);
        ASSERT_LT(best, 11);
        const std::vector<std::string> kept = {"--checkpoints", points, "--keep", "1"};
        for (const std::string& epochs : {std::to_string(best + 1), std::string("12")}) {
            std::vector<std::string> more = with({"--epochs", epochs, "--resume"});
            more.insert(more.end(), kept.begin(), kept.end());
            EXPECT_EQ(judged("resumed.onnx", more)["weights"]["epoch"], best);
        }
        EXPECT_EQ(bytes("resumed.onnx"), bytes("whole.onnx"));
        // Without the checkpoint of the best evaluation a warning says that its weights are lost.
        for (const auto& entry : std::filesystem::directory_iterator(points))
            if (entry.path().string().find(fmt::format("{:012}", whole["weights"]["step"].get<int>())) !=
                std::string::npos)
                std::filesystem::remove(entry.path());
        std::vector<std::string> more =
            with({"--epochs", "13", "--resume", "--eval-share", "0.7", "--rate", "0.3", "--metric",
                  "cross-entropy", "-o", folder_ + "lost.onnx"});
        more.insert(more.end(), kept.begin(), kept.end());
        const Outcome lost = run(more);
        EXPECT_EQ(lost.code, 0) << lost.err;
        EXPECT_THAT(lost.err, HasSubstr("the best weights so far"));
        EXPECT_THAT(lost.out, HasSubstr("the weights after epoch 13"));
    }
}

TEST_F(TrainExport, TheBestNeedsEvaluations) {
    const Outcome none = run({"-o", folder_ + "a.onnx", "--export", "best"});
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("--export best takes the weights of the best evaluation"));
}

TEST_F(TrainExport, TheFileIsProvenWithAndWithoutEvaluation) {
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--eval-share", "0.2"}, std::vector<std::string>{}}) {
        std::vector<std::string> arguments = more;
        arguments.insert(arguments.end(), {"-o", folder_ + "trained.onnx"});
        const Json json = run_json(arguments);
        ASSERT_EQ(json["proof"].size(), 1U);
        EXPECT_EQ(json["proof"][0]["output"], "scores");
        EXPECT_LE(json["proof"][0]["error"].get<double>(), 1e-6);
        EXPECT_EQ(json["samples"]["evaluation"], more.empty() ? 0 : 81);
        EXPECT_EQ(json["samples"]["left_out"], 0);
    }
}

TEST_F(TrainExport, AFileThatDiffersIsPutAside) {
    train::Witness witness;
    witness.batch = 2;
    witness.inputs["points"] = graph::Tensor::f32({2, 2}, std::vector<float>{0.5F, -0.5F, 0.25F, 0.75F});
    witness.outputs = {graph::Tensor(graph::ElementType::f32, {2, 2})};  // zeros are not its answer
    ModelOptions options;
    options.threads = 1;
    const auto proof = prove_written(folder_ + "model.onnx", options, witness);
    ASSERT_TRUE(proof.ok()) << proof.error().text();
    EXPECT_FALSE(proof->passed());
    const auto checked = check_proven(*proof, folder_ + "model.onnx");
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().kind(), ErrorKind::bug);
    EXPECT_THAT(checked.error().message, HasSubstr("gives other outputs than the evaluation of the run"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "model.onnx"));
    EXPECT_TRUE(std::filesystem::exists(folder_ + "model.differs.onnx"));
}

TEST_F(TrainExport, TheOperatorSetStays) {
    ASSERT_TRUE(onnx::save(*onnx::load(folder_ + "model.onnx"), folder_ + "model.onnx", {.opset = 20}).ok());
    const Json json = run_json({"-o", folder_ + "trained.onnx"});
    EXPECT_EQ(json["versions"]["given"]["opset"], 20);
    EXPECT_EQ(json["versions"]["written"]["opset"], 20);
    EXPECT_EQ(onnx::versions_of(folder_ + "trained.onnx")->opset, 20);
    std::string file = bytes("model.onnx");  // ... "opset_import": { "version": 20 } is its last field
    const auto place = file.rfind(std::string("\x10\x14", 2));
    ASSERT_NE(place, std::string::npos);
    file[place + 1] = 13;
    std::ofstream(folder_ + "model.onnx", std::ios::binary) << file;
    const Outcome older = run({"-o", folder_ + "trained.onnx"});
    EXPECT_EQ(older.code, 0) << older.err;
    EXPECT_THAT(older.out, HasSubstr("it is written in operator set 17; the given file has 13"));
}

TEST_F(TrainExport, WhatAFixedBatchLeavesOutIsSaid) {
    ModelOptions options;
    options.model = folder_ + "model.onnx";
    options.batch = 32;
    auto fixed = session::load_model(options);
    ASSERT_TRUE(fixed.ok()) << fixed.error().text();
    ASSERT_TRUE(onnx::save(*fixed, folder_ + "model.onnx").ok());
    const Outcome done = run({"-o", folder_ + "a.onnx", "--eval-share", "0.2"});
    EXPECT_EQ(done.code, 0) << done.err;
    // 322 samples are 10 batches of 32 and 2 more.
    const std::string said =
        "322 samples to train on, 81 to judge; each epoch leaves out 2, because the batch is fixed";
    EXPECT_THAT(done.out, HasSubstr(said));
    EXPECT_THAT(done.err, HasSubstr(said)) << "before the first step too";
}

// A listener that stops a run when it hears of this.
class StopsAt final : public Listener {
  public:
    explicit StopsAt(std::string what) : what_(std::move(what)) {}
    void progress(const std::string& what) override { heard_ = heard_ || what == what_; }
    bool cancelled() override { return heard_; }

  private:
    std::string what_;
    bool heard_ = false;
};

TEST_F(TrainExport, AnEvaluationThatIsStoppedIsMadeUpFor) {
    const auto trained = [&](Listener& listener, const std::string& points) {
        TrainOptions options = this->options(0.5);
        options.epochs = 4;
        options.patience = 3;
        options.checkpoints = folder_ + points;
        options.resume = true;
        const auto start = std::make_shared<Start>();
        auto task = task_of(options, start, listener);
        EXPECT_TRUE(task.ok()) << task.error().text();
        auto run = run_options(options, *task, *start, listener);
        EXPECT_TRUE(run.ok()) << run.error().text();
        auto result = train::train(*task, *run, listener);
        EXPECT_TRUE(result.ok()) << result.error().text();
        return std::move(result).value();
    };
    Listener patient;
    const train::TrainResult whole = trained(patient, "whole");
    ASSERT_EQ(whole.epochs.size(), 4U);
    StopsAt second("evaluation after epoch 2/4, batch 3/7");
    const train::TrainResult stopped = trained(second, "points");
    EXPECT_TRUE(stopped.cancelled);
    EXPECT_EQ(stopped.epochs.size(), 1U) << "the second has no evaluation yet";
    EXPECT_EQ(stopped.steps, 2 * whole.steps / 4);
    StopsAt again("evaluation after epoch 2/4, batch 1/7");  // also when it is resumed
    EXPECT_TRUE(trained(again, "points").epochs.empty());
    const train::TrainResult resumed = trained(patient, "points");
    ASSERT_EQ(resumed.epochs.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(resumed.epochs[i].epoch, whole.epochs[i + 1].epoch);
        EXPECT_EQ(resumed.epochs[i].loss, whole.epochs[i + 1].loss);
        EXPECT_EQ(resumed.epochs[i].evaluation->metrics, whole.epochs[i + 1].evaluation->metrics);
    }
    EXPECT_EQ(resumed.weights_of.epoch, whole.weights_of.epoch);
    for (const auto& [name, weight] : whole.weights)
        EXPECT_TRUE(resumed.weights.at(name).same_bytes(weight)) << name;
    EXPECT_EQ(bytes("points/step-000000000014.safetensors"), bytes("whole/step-000000000014.safetensors"))
        << "the stopped evaluation's score is in the checkpoint too";
}

}  // namespace
}  // namespace viridian::cli
