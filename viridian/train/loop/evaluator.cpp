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
    terms_ = std::move(evaluation.terms);
    network_outputs_ = forward.outputs().size();
    return std::move(evaluation.graph);
}

Result<std::optional<Judgement>> Evaluator::judge(const Tensors& weights, Listener& listener,
                                                  const std::string& what) {
    for (Metric& metric : metrics_) metric.reset();
    loss_sum_ = loss_count_ = 0;
    VIRIDIAN_TRY(Runner* const first,
                 sizes_.at(static_cast<std::int64_t>(portions_.front().draw.samples.size())));
    VIRIDIAN_TRY(first->set_states(weights));
    for (std::size_t i = 0; i < portions_.size(); ++i) {
        if (listener.cancelled()) {
            sizes_.rest();
            return std::optional<Judgement>();
        }
        listener.progress(fmt::format("{}, batch {}/{}", what, i + 1, portions_.size()));
        VIRIDIAN_TRY(add(portions_[i]));
    }
    sizes_.rest();
    Judgement found{.loss = loss_sum_ / loss_count_, .metrics = {}};
    for (const Metric& metric : metrics_) {
        VIRIDIAN_TRY(found.metrics[metric.name()], metric.value());
    }
    return std::optional(std::move(found));
}

Result<Witness> Evaluator::witness(const Tensors& weights) {
    const data::Draw& draw = portions_.front().draw;
    Witness made;
    made.batch = static_cast<std::int64_t>(draw.samples.size());
    VIRIDIAN_TRY(Runner* const runner, sizes_.at(made.batch));
    made.winograd = runner->winograd();
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

// Adds one batch to the metrics and to the loss, whose terms lie in the order of the samples.
Result<void> Evaluator::add(const Portion& portion) {
    VIRIDIAN_TRY(Runner* const runner, sizes_.at(static_cast<std::int64_t>(portion.draw.samples.size())));
    VIRIDIAN_TRY(data::Batch batch, batches_->batch(portion.draw));
    const Tensors inputs = named(inputs_, std::move(batch.inputs));
    VIRIDIAN_TRY(runner->run(inputs));
    const graph::Tensor* predictions = runner->output(judged_);
    const graph::Tensor* terms = runner->output(terms_);
    const auto labels = inputs.find(step_.labels);
    if (predictions == nullptr || terms == nullptr || labels == inputs.end()) return {};
    const auto samples = static_cast<std::int64_t>(portion.draw.samples.size());
    for (std::int64_t i = 0; i < terms->count() / samples * portion.counted; ++i)
        loss_sum_ += terms->number(i);
    const std::int64_t counted_labels = labels->second.count() / samples * portion.counted;
    loss_count_ += gradient::loss_count(options_.step.loss, labels->second, counted_labels);
    const Counted counted{.samples = portion.counted,
                          .class_axis = gradient::class_axis(options_.step.loss, predictions->rank()),
                          .ignored_label = options_.step.loss.ignored_label};
    for (Metric& metric : metrics_) VIRIDIAN_TRY(metric.add(*predictions, labels->second, counted));
    return {};
}

}  // namespace viridian::train
