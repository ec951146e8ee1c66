#include "viridian/train/loop/evaluator.hpp"

#include "viridian/gradient/evaluation.hpp"

namespace viridian::train {

Evaluator::Evaluator(const Task& task, const RunOptions& options, const gradient::Step& step)
    : task_(task),
      options_(options),
      step_(step),
      sizes_([this](std::int64_t batch) { return graph_for(batch); }, task.prepare) {}

Result<void> Evaluator::open(const std::vector<data::ModelInput>& inputs) {
    inputs_ = inputs;
    data::BatchOptions plain = options_.batches;
    plain.augment = false;
    const bool judges = task_.evaluation.count() > 0;
    const data::Dataset& samples =
        judges && task_.evaluation_samples ? *task_.evaluation_samples : task_.samples;
    VIRIDIAN_TRY(batches_, data::Batches::make(samples, inputs_, plain));
    for (const std::string& name : options_.metrics) {
        VIRIDIAN_TRY(Metric metric, parse_metric(name));
        metrics_.push_back(std::move(metric));
    }
    portions_ = judges ? portions_of(task_.evaluation, options_.batch, task_.fixed_batch)
                       : portions_of(task_.training, options_.batch, task_.fixed_batch, 1);
    VIRIDIAN_TRY(add(portions_.front()));
    VIRIDIAN_TRY(add(portions_.back()));
    sizes_.rest();
    return {};
}

Result<graph::Graph> Evaluator::graph_for(std::int64_t batch) {
    VIRIDIAN_TRY(const graph::Graph forward, task_.network(batch));
    VIRIDIAN_TRY(gradient::Evaluation evaluation,
                 gradient::evaluation_of(forward, step_, options_.step.loss));
    judged_ = std::move(evaluation.judged);
    network_outputs_ = forward.outputs().size();
    return std::move(evaluation.graph);
}

Result<std::optional<std::map<std::string, double>>> Evaluator::judge(const Tensors& weights,
                                                                      Listener& listener,
                                                                      const std::string& what) {
    for (Metric& metric : metrics_) metric.reset();
    VIRIDIAN_TRY(Runner* const first,
                 sizes_.at(static_cast<std::int64_t>(portions_.front().draw.samples.size())));
    VIRIDIAN_TRY(first->set_states(weights));
    for (std::size_t i = 0; i < portions_.size(); ++i) {
        if (listener.cancelled()) {
            sizes_.rest();
            return std::optional<std::map<std::string, double>>();
        }
        listener.progress(fmt::format("{}, batch {}/{}", what, i + 1, portions_.size()));
        VIRIDIAN_TRY(add(portions_[i]));
    }
    sizes_.rest();
    std::map<std::string, double> scores;
    for (const Metric& metric : metrics_) {
        VIRIDIAN_TRY(scores[metric.name()], metric.value());
    }
    return std::optional(std::move(scores));
}

Result<Witness> Evaluator::witness(const Tensors& weights) {
    const data::Draw& draw = portions_.front().draw;
    Witness made{.batch = static_cast<std::int64_t>(draw.samples.size()), .inputs = {}, .outputs = {}};
    VIRIDIAN_TRY(Runner* const runner, sizes_.at(made.batch));
    VIRIDIAN_TRY(runner->set_states(weights));
    VIRIDIAN_TRY(data::Batch batch, batches_->batch(draw));
    made.inputs = named(inputs_, std::move(batch.inputs));
    VIRIDIAN_TRY(const std::vector<graph::Tensor>* const outputs, runner->run(made.inputs));
    for (std::size_t i = 0; i < network_outputs_; ++i) {
        made.outputs.push_back((*outputs)[i]);
        static_cast<void>(made.outputs.back().mutable_bytes());  // a copy, for the runner writes them again
    }
    sizes_.rest();
    return made;
}

// Adds one batch to the metrics.
Result<void> Evaluator::add(const Portion& portion) {
    VIRIDIAN_TRY(Runner* const runner, sizes_.at(static_cast<std::int64_t>(portion.draw.samples.size())));
    VIRIDIAN_TRY(data::Batch batch, batches_->batch(portion.draw));
    const Tensors inputs = named(inputs_, std::move(batch.inputs));
    VIRIDIAN_TRY(runner->run(inputs));
    const graph::Tensor* predictions = runner->output(judged_);
    const auto labels = inputs.find(step_.labels);
    if (predictions == nullptr || labels == inputs.end()) return {};
    const Counted counted{.samples = portion.counted,
                          .class_axis = gradient::class_axis(options_.step.loss, predictions->rank()),
                          .ignored_label = options_.step.loss.ignored_label};
    for (Metric& metric : metrics_) VIRIDIAN_TRY(metric.add(*predictions, labels->second, counted));
    return {};
}

}  // namespace viridian::train
