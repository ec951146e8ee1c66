// What evaluations say: the loss as training computes it, and metrics, in the answer and in both logs.
#include "tests/cli/train_support.hpp"

namespace viridian::cli {
namespace {

using testing::HasSubstr;
using TrainEvaluation = TrainCommand;

// With a rate that changes nothing, training and evaluation see one network and the same samples.
TEST_F(TrainEvaluation, TheLossIsThatOfTraining) {
    struct Case {
        std::vector<std::string> loss;
        std::int64_t outputs;
    };
    const Case cases[] = {{{"--loss", "cross-entropy"}, 2},
                          {{"--loss", "cross-entropy", "--label-smoothing", "0.2"}, 2},
                          {{"--loss", "cross-entropy", "--class-weights", "1,3"}, 2},
                          {{"--loss", "cross-entropy", "--ignore-label", "0"}, 2},
                          {{"--loss", "nll"}, 2},
                          {{"--loss", "mse"}, 1},
                          {{"--loss", "l1"}, 1},
                          {{"--loss", "huber", "--huber-delta", "0.3"}, 1},
                          {{"--loss", "bce"}, 1}};
    for (const auto& [loss, outputs] : cases) {
        write_model(outputs);
        const auto losses = [&](const char* batch) {
            std::vector<std::string> arguments = {
                "--eval", folder_ + "samples.csv", "--optimizer", "sgd", "--rate", "1e-30", "--batch", batch,
                "-o",     folder_ + "trained.onnx"};
            arguments.insert(arguments.end(), loss.begin(), loss.end());
            const Json json = run_json(arguments);
            return json.is_null() ? Json() : json["epochs"][0];
        };
        const Json whole = losses("403");
        ASSERT_FALSE(whole.is_null()) << loss[1];
        const double evaluated = whole["evaluation_loss"];
        EXPECT_NEAR(evaluated, whole["loss"].get<double>(), 1e-6) << fmt::format("{}", fmt::join(loss, " "));
        EXPECT_NEAR(losses("50")["evaluation_loss"].get<double>(), evaluated, 1e-6)
            << "the size of batches does not matter";
        const std::string metric = loss[1] == "l1" ? "mae" : loss[1];
        if (metric == "mse" || metric == "mae") {
            EXPECT_NEAR(whole["metrics"][metric].get<double>(), evaluated, 1e-6);
        }
        EXPECT_EQ(whole["metrics"].contains("accuracy"), metric == "bce") << whole.dump();
    }
}

TEST_F(TrainEvaluation, BothLogsHaveEveryEvaluation) {
    const Json json = run_json({"--eval-share", "0.25", "--epochs", "3", "--metric", "top-1", "--metric",
                                "cross-entropy", "--log", folder_ + "log.jsonl", "--tensorboard",
                                folder_ + "board", "-o", folder_ + "trained.onnx"});
    std::ifstream log(folder_ + "log.jsonl");
    std::vector<Json> evaluations;
    std::int64_t last = 0;
    for (std::string line; std::getline(log, line);) {
        const auto object = parse_json(line, "log");
        ASSERT_TRUE(object.ok());
        if ((*object)["schema"] == "viridian.train-step/1") last = (*object)["step"];
        if ((*object)["schema"] != "viridian.train-evaluation/1") continue;
        EXPECT_EQ((*object)["step"], last) << "it follows its step";
        evaluations.push_back(*object);
    }
    ASSERT_EQ(evaluations.size(), 3U);
    std::string events;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "board"))
        events = *read_file(entry.path());
    for (std::size_t i = 0; i < 3; ++i) {
        const Json& epoch = json["epochs"][i];
        EXPECT_EQ(evaluations[i]["epoch"], epoch["epoch"]);
        EXPECT_EQ(evaluations[i]["step"], epoch["step"]);
        EXPECT_EQ(evaluations[i]["loss"], epoch["evaluation_loss"]);
        EXPECT_EQ(evaluations[i]["metrics"], epoch["metrics"]);
        EXPECT_EQ(evaluations[i]["samples"], 101);
        EXPECT_NEAR(epoch["evaluation_loss"].get<double>(), epoch["metrics"]["cross-entropy"].get<double>(),
                    1e-6);
        for (const auto& [tag, value] : {std::pair("loss/evaluation", epoch["evaluation_loss"]),
                                         std::pair("metric/top-1", epoch["metrics"]["top-1"])}) {
            const auto number = static_cast<float>(value.get<double>());  // field 2 of a value, 32 bits
            std::string field = std::string(tag) + '\x15';
            field.append(reinterpret_cast<const char*>(&number), sizeof number);
            EXPECT_THAT(events, HasSubstr(field)) << tag << i;
        }
    }
    EXPECT_THAT(events, HasSubstr("loss/train"));
}

TEST_F(TrainEvaluation, AnEpochWithoutOneHasNoLossOfIt) {
    const Json json = run_json({"-o", folder_ + "trained.onnx"});
    EXPECT_TRUE(json["epochs"][0]["evaluation_loss"].is_null());
    EXPECT_EQ(json["epochs"][0]["metrics"], Json::object());
}

}  // namespace
}  // namespace viridian::cli
