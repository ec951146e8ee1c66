// What a listener hears of a training run.
#include "tests/cli/train_support.hpp"
#include "viridian/cli/train/task.hpp"

namespace viridian::cli {
namespace {

class Hearing : public Listener {
  public:
    void progress(const std::string& what) override { heard.push_back(what); }
    std::vector<std::string> heard;
};

using TrainProgress = TrainCommand;

TEST_F(TrainProgress, EveryBatchOfAnEvaluationIsHeard) {
    TrainOptions options = this->options(0.25);
    options.epochs = 2;
    const auto start = std::make_shared<Start>();
    Hearing listener;
    const auto task = task_of(options, start, listener);
    ASSERT_TRUE(task.ok()) << task.error().text();
    const auto run = run_options(options, *task, *start, listener);
    ASSERT_TRUE(run.ok()) << run.error().text();
    listener.heard.clear();
    std::vector<Seconds> left;
    const auto result = train::train(*task, *run, listener, [&](const train::StepRecord& record) {
        left.push_back(record.remaining.value());
    });
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_EQ(listener.heard,
              (std::vector<std::string>{
                  "evaluation after epoch 1/2, batch 1/4", "evaluation after epoch 1/2, batch 2/4",
                  "evaluation after epoch 1/2, batch 3/4", "evaluation after epoch 1/2, batch 4/4",
                  "evaluation after epoch 2/2, batch 1/4", "evaluation after epoch 2/2, batch 2/4",
                  "evaluation after epoch 2/2, batch 3/4", "evaluation after epoch 2/2, batch 4/4"}));
    EXPECT_GT(left.back(), Seconds(0)) << "the evaluation after the last step is left";
}

}  // namespace
}  // namespace viridian::cli
