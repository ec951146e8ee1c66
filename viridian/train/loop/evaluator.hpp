#pragma once
// An Evaluator judges weights by metrics, on the samples of a task that are for evaluation.
#include "viridian/train/loop/feed.hpp"
#include "viridian/train/loop/portions.hpp"
#include "viridian/train/loop/sizes.hpp"
#include "viridian/train/metric/metric.hpp"

namespace viridian::train {

// A Judgement is what an evaluation finds: the loss, as training computes it, and the metrics by name.
struct Judgement {
    double loss = 0;
    std::map<std::string, double> metrics;
};

class Evaluator {
  public:
    // `step` names the weights and the labels. All of them must outlive the evaluator.
    Evaluator(const Task& task, const RunOptions& options, const gradient::Step& step);
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;

    // Makes the network ready for both sizes of batches, and judges the first and the last batch, so that
    // metrics, labels and shapes that do not fit are known before training. A task without samples for
    // evaluation takes the first batch of those for training, as witness() needs one. Errors: those of
    // parse_metric, of the task's functions, of reading data, of Metric::add.
    [[nodiscard]] Result<void> open(const std::vector<data::ModelInput>& inputs);

    // Judges these weights and statistics; returns nothing if the listener cancels before the last batch.
    // `listener` hears of every batch; `what` is how the evaluation is called there. Errors: as above.
    [[nodiscard]] Result<std::optional<Judgement>> judge(const Tensors& weights, Listener& listener,
                                                         const std::string& what);

    // Returns the first batch and what the network answers to it with these weights. Errors: as above.
    [[nodiscard]] Result<Witness> witness(const Tensors& weights);

    [[nodiscard]] const std::vector<Metric>& metrics() const { return metrics_; }

  private:
    [[nodiscard]] Result<graph::Graph> graph_for(std::int64_t batch);
    [[nodiscard]] Result<void> add(const Portion& portion);

    const Task& task_;
    const RunOptions& options_;
    const gradient::Step& step_;
    std::vector<data::ModelInput> inputs_;
    std::optional<data::Batches> batches_;
    std::vector<Portion> portions_;
    std::vector<Metric> metrics_;
    Sizes sizes_;
    std::string judged_, terms_;            // outputs: what metrics compare, and the terms of the loss
    double loss_sum_ = 0, loss_count_ = 0;  // of the evaluation under way
    std::size_t network_outputs_ = 0;       // the outputs of the network, which come before these two
};

}  // namespace viridian::train
