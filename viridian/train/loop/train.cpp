#include "viridian/train/loop/train.hpp"

#include <chrono>
#include <cmath>

#include "viridian/data/prefetch.hpp"
#include "viridian/gradient/evaluation.hpp"
#include "viridian/train/loop/portions.hpp"
#include "viridian/train/loop/runner.hpp"
#include "viridian/train/metric/metric.hpp"
#include "viridian/train/not_finite.hpp"

namespace viridian::train {
namespace {

using Clock = std::chrono::steady_clock;
using Tensors = std::map<std::string, graph::Tensor>;

Seconds since(Clock::time_point start) {
    return Seconds(std::chrono::duration<double>(Clock::now() - start).count());
}

// The inputs that the data gives: all except those that a step adds for itself.
std::vector<data::ModelInput> data_inputs(const graph::Graph& graph) {
    std::vector<data::ModelInput> inputs;
    for (const graph::ValueId id : graph.inputs()) {
        const graph::Value& value = graph.value(id);
        if (!value.name.starts_with("viridian.")) inputs.push_back({value.name, value.type});
    }
    return inputs;
}

Tensors named(const std::vector<data::ModelInput>& inputs, std::vector<graph::Tensor> tensors) {
    Tensors all;
    for (std::size_t i = 0; i < inputs.size(); ++i) all[inputs[i].name] = std::move(tensors[i]);
    return all;
}

graph::Tensor scalar_of(graph::ElementType type, double value) {
    if (type == graph::ElementType::f64) return graph::Tensor::of<double>(type, {}, std::span(&value, 1));
    return graph::Tensor::scalar(static_cast<float>(value));
}

// One graph made ready for each size of batch that occurs: the whole batch, and the last one of an epoch. The
// states are those of the runner that ran last, and move when the size changes.
class Sizes {
  public:
    using Make = std::function<Result<Ready>(std::int64_t batch)>;
    explicit Sizes(Make make) : make_(std::move(make)) {}

    Result<Runner*> at(std::int64_t batch) {
        auto found = runners_.find(batch);
        if (found == runners_.end()) {
            VIRIDIAN_TRY(Ready ready, make_(batch));
            VIRIDIAN_TRY(Runner runner, Runner::make(std::move(ready)));
            found = runners_.emplace(batch, std::move(runner)).first;
        }
        if (latest_ != nullptr && latest_ != &found->second) {
            VIRIDIAN_TRY(const Tensors states, latest_->states());
            VIRIDIAN_TRY(found->second.set_states(states));
        }
        latest_ = &found->second;
        return latest_;
    }
    [[nodiscard]] Runner& latest() { return *latest_; }

  private:
    Make make_;
    std::map<std::int64_t, Runner> runners_;
    Runner* latest_ = nullptr;
};

class Trainer {
  public:
    Trainer(const Task& task, const RunOptions& options, Listener& listener, const OnStep& on_step)
        : task_(task),
          options_(options),
          listener_(listener),
          on_step_(on_step),
          steps_([this](std::int64_t batch) { return ready_step(batch); }),
          evaluations_([this](std::int64_t batch) { return ready_evaluation(batch); }) {}

    Result<TrainResult> run() {
        VIRIDIAN_TRY(open());
        VIRIDIAN_TRY(resume());
        const std::int64_t total = options_.epochs * sampler_->steps_per_epoch();
        data::Prefetch<data::Batch> batches(
            [this, next = position_.step, total]() mutable -> Result<std::optional<data::Batch>> {
                if (next >= total) return std::optional<data::Batch>();
                VIRIDIAN_TRY(data::Batch batch, training_->batch(sampler_->whole(next++)));
                return std::optional(std::move(batch));
            },
            4);
        while (position_.step < total && !result_.cancelled) {
            const Clock::time_point start = Clock::now();  // waiting for data is part of a step
            VIRIDIAN_TRY(std::optional<data::Batch> batch, batches.next());
            VIRIDIAN_TRY(step(std::move(*batch), total, start));
            const bool epoch_ends = position_.step % sampler_->steps_per_epoch() == 0;
            if (epoch_ends) VIRIDIAN_TRY(end_epoch());
            result_.cancelled = listener_.cancelled();
            const std::int64_t every = options_.checkpoints ? options_.checkpoints->every : 0;
            if (epoch_ends || result_.cancelled || (every > 0 && position_.step % every == 0))
                VIRIDIAN_TRY(save(epoch_ends));
        }
        VIRIDIAN_TRY(const Tensors states, finite_states());
        for (const gradient::Trained& parameter : step_.parameters)
            result_.weights[parameter.name] = states.at(parameter.name);
        for (const std::string& name : step_.statistics) result_.weights[name] = states.at(name);
        result_.steps = position_.step;
        return std::move(result_);
    }

  private:
    Result<void> open() {
        data::SamplerOptions sampling{
            .from = task_.training,
            .batch = task_.fixed_batch ? options_.batch : std::min(options_.batch, task_.training.count()),
            .seed = options_.seed,
            .shuffle = options_.shuffle,
            .drop_last = task_.fixed_batch};
        if (task_.training.count() < sampling.batch)
            return fail(ErrorCode::mismatch, "give more samples, or export the model with a free batch",
                        "the network takes batches of {} and there are {} samples to train on",
                        sampling.batch, task_.training.count());
        VIRIDIAN_TRY(sampler_, data::Sampler::make(sampling));
        VIRIDIAN_TRY(Runner* const runner, steps_.at(sampling.batch));
        inputs_ = data_inputs(runner->graph());
        VIRIDIAN_TRY(training_, data::Batches::make(task_.samples, inputs_, options_.batches));
        for (const graph::State& state : runner->graph().states())
            if (state.role == graph::StateRole::parameter)
                result_.parameters +=
                    graph::element_count(runner->graph().value(state.before).type.dims()).value();
        // Both sizes of batches are made ready now, so that what cannot run is known before the first step.
        VIRIDIAN_TRY(steps_.at(sampler_->samples_of(sampler_->steps_per_epoch() - 1)));
        VIRIDIAN_TRY(steps_.at(sampling.batch));
        if (task_.evaluation.count() > 0) VIRIDIAN_TRY(open_evaluation());
        if (options_.checkpoints) {
            VIRIDIAN_TRY(folder_,
                         CheckpointFolder::open(options_.checkpoints->folder, options_.checkpoints->keep));
        }
        return {};
    }

    Result<void> open_evaluation() {
        data::BatchOptions plain = options_.batches;
        plain.augment = false;
        VIRIDIAN_TRY(evaluated_,
                     data::Batches::make(task_.evaluation_samples.value_or(task_.samples), inputs_, plain));
        for (const std::string& name : options_.metrics) {
            VIRIDIAN_TRY(Metric metric, parse_metric(name));
            metrics_.push_back(std::move(metric));
        }
        // The first and the last batch show whether metrics and labels fit.
        const std::vector<Portion> portions =
            portions_of(task_.evaluation, options_.batch, task_.fixed_batch);
        VIRIDIAN_TRY(judge(portions.front()));
        return judge(portions.back());
    }

    Result<Ready> ready_step(std::int64_t batch) {
        VIRIDIAN_TRY(const graph::Graph forward, task_.network(batch));
        VIRIDIAN_TRY(gradient::Step made, gradient::training_step(forward, options_.step));
        if (hash_.empty()) {
            hash_ = fmt::format("{:016x}", structural_hash(forward));
        }
        graph::Graph graph = std::move(made.graph);
        step_ = std::move(made);
        return task_.prepare(std::move(graph));
    }

    Result<Ready> ready_evaluation(std::int64_t batch) {
        VIRIDIAN_TRY(const graph::Graph forward, task_.network(batch));
        VIRIDIAN_TRY(gradient::Evaluation evaluation,
                     gradient::evaluation_of(forward, step_, options_.step.loss));
        judged_ = std::move(evaluation.judged);
        return task_.prepare(std::move(evaluation.graph));
    }

    [[nodiscard]] double rate() const {
        const RunLength length{options_.epochs * sampler_->steps_per_epoch(), sampler_->steps_per_epoch()};
        return options_.rate * options_.schedule.factor(position_.step, length);
    }

    Result<void> step(data::Batch batch, std::int64_t total, Clock::time_point start) {
        const auto samples = static_cast<std::int64_t>(batch.draw.samples.size());
        const std::int64_t first = batch.draw.first;
        VIRIDIAN_TRY(Runner* const runner, steps_.at(samples));
        Tensors inputs = named(inputs_, std::move(batch.inputs));
        const double now = rate();
        for (const graph::ValueId id : runner->graph().inputs()) {
            const graph::Value& value = runner->graph().value(id);
            if (value.name == gradient::rate_input) inputs[value.name] = scalar_of(value.type.element, now);
            if (value.name == gradient::first_sample_input) inputs[value.name] = graph::Tensor::scalar(first);
            if (value.name == gradient::seed_input)
                inputs[value.name] = graph::Tensor::scalar(static_cast<std::int64_t>(options_.seed));
        }
        VIRIDIAN_TRY(const std::vector<graph::Tensor>* const outputs, runner->run(inputs));
        const double loss = (*outputs)[0].number(0);
        if (!std::isfinite(loss)) return not_finite(*runner, loss);
        ++position_.step;
        numbers_["loss"] += loss * static_cast<double>(samples);
        numbers_["samples"] += static_cast<double>(samples);
        average_.add(loss);
        const Seconds seconds = since(start);
        numbers_["seconds"] += seconds.value;
        report({.step = position_.step,
                .steps = total,
                .epoch = (position_.step - 1) / sampler_->steps_per_epoch() + 1,
                .epochs = options_.epochs,
                .loss = loss,
                .average_loss = average_.value(),
                .rate = now,
                .seconds = seconds,
                .samples = samples},
               *runner);
        return {};
    }

    void report(StepRecord record, const Runner& runner) {
        if (const graph::Tensor* norm = runner.output(gradient::norm_output))
            record.gradient_norm = norm->number(0);
        const double each =
            (mean_seconds_ = mean_seconds_ == 0 ? record.seconds.value
                                                : 0.95 * mean_seconds_ + 0.05 * record.seconds.value);
        record.remaining = Seconds(each * static_cast<double>(record.steps - record.step));
        if (on_step_) on_step_(record);
    }

    // A loss that is no number ends the run: the states may be damaged, so they are not kept.
    Result<void> not_finite(const Runner& runner, double loss) {
        VIRIDIAN_TRY(const Tensors states, runner.states());
        std::vector<NamedTensor> all;
        for (const auto& [name, tensor] : states) all.push_back({name, tensor});
        const std::optional<NotFinite> first = first_not_finite(all);
        const std::vector<Path> kept =
            options_.checkpoints ? checkpoints_in(options_.checkpoints->folder) : std::vector<Path>();
        const std::string step =
            kept.empty() ? std::string("choose a smaller --rate, or --clip 1")
                         : fmt::format("choose a smaller --rate or --clip 1; the last good checkpoint is {}",
                                       kept[0].string());
        return fail(ErrorCode::malformed, step, "the loss is {} in step {}: {}", loss, position_.step + 1,
                    first ? first->text() : "all states are finite, so the batch or the loss itself is not");
    }

    Result<void> end_epoch() {
        EpochRecord record{.epoch = position_.step / sampler_->steps_per_epoch(),
                           .loss = numbers_["loss"] / numbers_["samples"],
                           .seconds = Seconds(numbers_["seconds"]),
                           .samples = static_cast<std::int64_t>(numbers_["samples"]),
                           .metrics = {}};
        numbers_["loss"] = numbers_["samples"] = numbers_["seconds"] = 0;
        position_.epoch = record.epoch;
        if (task_.evaluation.count() > 0)
            if (auto judged = evaluate(record); !judged.ok()) {  // what was trained must not be lost with it
                VIRIDIAN_TRY(save(false));
                return judged;
            }
        result_.epochs.push_back(std::move(record));
        return {};
    }

    Result<void> evaluate(EpochRecord& record) {
        VIRIDIAN_TRY(const Tensors states, steps_.latest().states());
        for (Metric& metric : metrics_) metric.reset();
        const Runner* runner = nullptr;
        for (const Portion& portion : portions_of(task_.evaluation, options_.batch, task_.fixed_batch)) {
            VIRIDIAN_TRY(Runner* const next,
                         evaluations_.at(static_cast<std::int64_t>(portion.draw.samples.size())));
            if (next != runner) VIRIDIAN_TRY(next->set_states(states));
            runner = next;
            VIRIDIAN_TRY(judge(portion));
        }
        for (const Metric& metric : metrics_) {
            VIRIDIAN_TRY(record.metrics[metric.name()], metric.value());
        }
        return {};
    }

    // Adds one batch to the metrics.
    Result<void> judge(const Portion& portion) {
        VIRIDIAN_TRY(Runner* const runner,
                     evaluations_.at(static_cast<std::int64_t>(portion.draw.samples.size())));
        VIRIDIAN_TRY(data::Batch batch, evaluated_->batch(portion.draw));
        const Tensors inputs = named(inputs_, std::move(batch.inputs));
        VIRIDIAN_TRY(runner->run(inputs));
        const graph::Tensor* predictions = runner->output(judged_);
        const auto labels = inputs.find(step_.labels);
        if (predictions == nullptr || labels == inputs.end()) return {};
        const bool last_axis = predictions->rank() == 3 && !options_.step.loss.class_axis;
        const Counted counted{.samples = portion.counted,
                              .class_axis = options_.step.loss.class_axis.value_or(last_axis ? -1 : 1),
                              .ignored_label = options_.step.loss.ignored_label};
        for (Metric& metric : metrics_) VIRIDIAN_TRY(metric.add(*predictions, labels->second, counted));
        return {};
    }

    // Returns the states. Errors: malformed if one of them is no finite number, so that it is never kept.
    Result<Tensors> finite_states() {
        VIRIDIAN_TRY(Tensors states, steps_.latest().states());
        std::vector<NamedTensor> all;
        for (const auto& [name, tensor] : states) all.push_back({name, tensor});
        if (const std::optional<NotFinite> found = first_not_finite(all))
            return fail(ErrorCode::malformed, "choose a smaller --rate, or --clip 1", "after step {} {}",
                        position_.step, found->text());
        return states;
    }

    // `judged`: the last evaluation was of these states, so its score belongs to them.
    Result<void> save(bool judged) {
        if (!folder_) return {};
        Checkpoint checkpoint;
        const graph::Graph& graph = steps_.latest().graph();
        VIRIDIAN_TRY(const Tensors states, finite_states());
        for (const graph::State& state : graph.states())
            checkpoint.states.push_back(
                {.name = graph.value(state.before).name,
                 .role = std::string(name_of(state.role)),
                 .of = state.of == graph::ValueId::none ? "" : graph.value(state.of).name,
                 .tensor = states.at(graph.value(state.before).name)});
        checkpoint.position = position_;
        checkpoint.position.seed = options_.seed;
        checkpoint.position.sample = static_cast<std::int64_t>(numbers_["samples"]);
        checkpoint.model = hash_;
        checkpoint.options = options_.written;
        checkpoint.numbers = numbers_;
        checkpoint.numbers["average.sum"] = average_.sum;
        checkpoint.numbers["average.weight"] = average_.weight;
        if (judged && !metrics_.empty() && !result_.epochs.empty())
            checkpoint.score = result_.epochs.back().metrics[metrics_[0].name()];
        VIRIDIAN_TRY(folder_->save(checkpoint));
        return {};
    }

    Result<void> resume() {
        if (!options_.checkpoints || !options_.checkpoints->resume) return {};
        if (checkpoints_in(options_.checkpoints->folder).empty()) return {};
        VIRIDIAN_TRY(FoundCheckpoint found, newest_checkpoint(options_.checkpoints->folder));
        for (const std::string& note : found.notes) listener_.warning(note);
        VIRIDIAN_TRY(check_resumable(found.checkpoint, found.path, hash_, options_.written));
        Tensors states;
        for (SavedState& state : found.checkpoint.states) states[state.name] = std::move(state.tensor);
        VIRIDIAN_TRY(const Tensors present, steps_.latest().states());
        for (const auto& [name, tensor] : present)
            if (!states.contains(name))
                return fail(ErrorCode::mismatch, "resume with the options of the run that wrote it",
                            "{} has no state `{}`", found.path.string(), name);
        VIRIDIAN_TRY(steps_.latest().set_states(states));
        position_ = found.checkpoint.position;
        numbers_ = found.checkpoint.numbers;
        average_.sum = numbers_["average.sum"];
        average_.weight = numbers_["average.weight"];
        result_.resumed_from = found.path;
        return {};
    }

    const Task& task_;
    const RunOptions& options_;
    Listener& listener_;
    const OnStep& on_step_;

    gradient::Step step_;  // names; its graph went to the device
    std::string hash_, judged_;
    std::vector<data::ModelInput> inputs_;
    Sizes steps_, evaluations_;
    std::optional<data::Sampler> sampler_;
    std::optional<data::Batches> training_, evaluated_;
    std::vector<Metric> metrics_;
    std::optional<CheckpointFolder> folder_;

    Position position_;
    std::map<std::string, double> numbers_;  // sums of the epoch under way
    LossAverage average_;
    double mean_seconds_ = 0;
    TrainResult result_;
};

}  // namespace

Result<TrainResult> train(const Task& task, const RunOptions& options, Listener& listener,
                          const OnStep& on_step) {
    return Trainer(task, options, listener, on_step).run();
}

}  // namespace viridian::train
