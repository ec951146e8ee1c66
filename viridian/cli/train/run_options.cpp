#include <algorithm>

#include "viridian/base/units_text.hpp"
#include "viridian/cli/train/task.hpp"
#include "viridian/data/labels.hpp"
#include "viridian/session/session.hpp"
#include "viridian/train/metric/metric.hpp"
#include "viridian/train/weights/parts.hpp"

namespace viridian::cli {
namespace {

bool is_of_classes(gradient::LossKind loss) {
    return loss == gradient::LossKind::cross_entropy || loss == gradient::LossKind::negative_log_likelihood;
}

// The metrics of an evaluation that asks for none. Its loss is printed in any case.
std::vector<std::string> usual_metrics(gradient::LossKind loss) {
    switch (loss) {
        case gradient::LossKind::cross_entropy:
        case gradient::LossKind::negative_log_likelihood:
            return {"top-1"};
        case gradient::LossKind::mean_squared_error:
        case gradient::LossKind::huber:
            return {"mse"};
        case gradient::LossKind::mean_absolute_error:
            return {"mae"};
        case gradient::LossKind::binary_cross_entropy:
            return {"accuracy"};
        default:
            return {};
    }
}

Result<void> check_trains(const gradient::StepOptions& step) {
    if (step.loss.kind == gradient::LossKind::gradient)
        return fail(ErrorCode::invalid_argument, "choose a loss that is a number, such as --loss mse",
                    "--loss gradient has no loss to lower");
    if (step.optimizer.kind == gradient::OptimizerKind::none)
        return fail(ErrorCode::invalid_argument, "choose one, such as --optimizer adamw",
                    "--optimizer none trains nothing");
    return {};
}

// Labels are checked against the number of classes, and padded with the label that does not count.
Result<void> bound_labels(const gradient::LossOptions& loss, const graph::Graph& forward,
                          const std::string& labels, data::BatchOptions& batches) {
    if (!is_of_classes(loss.kind)) return {};
    VIRIDIAN_TRY(const graph::ValueId output, gradient::loss_output_of(forward, loss));
    const graph::Dims dims = forward.value(output).type.dims();
    const auto axis =
        static_cast<std::size_t>(gradient::class_axis(loss, static_cast<std::int64_t>(dims.size())));
    for (data::InputOptions& input : batches.inputs)
        if (input.input == labels && axis < dims.size()) {
            input.classes = dims[axis];
            input.ignored = loss.ignored_label;
        }
    return {};
}

// Checks all labels of classes before the first step: a wrong one would end the run when it is read.
// `samples` may be those of evaluation.
Result<void> check_all_labels(const data::Dataset& samples, const data::Subset& subset,
                              const std::string& labels, const data::BatchOptions& batches) {
    constexpr std::int64_t most = std::int64_t{1} << 26;  // of labels as large as images, reading takes long
    const auto input = std::ranges::find(batches.inputs, labels, &data::InputOptions::input);
    if (input == batches.inputs.end() || input->classes == 0) return {};
    VIRIDIAN_TRY(const std::size_t index, samples.find(input->column));
    const data::Column& column = samples.column(index);
    if (is_floating(column.type) || (column.classes > 0 && column.classes <= input->classes)) return {};
    std::int64_t each = 1;
    for (const std::int64_t dim : column.dims) each *= dim;
    if (each > most / std::max<std::int64_t>(1, subset.count())) return {};
    VIRIDIAN_TRY(data::label_counts(samples, index, subset, input->classes, input->ignored));
    return {};
}

// The fingerprints of the columns that the run reads.
Result<std::vector<train::ColumnPrint>> prints_of(const train::Task& task,
                                                  const data::BatchOptions& batches) {
    std::vector<std::string> columns;
    const auto add = [&](const std::string& column) {
        if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    };
    for (const data::InputOptions& input : batches.inputs) add(input.column);
    for (const data::MaskOptions& mask : batches.masks) add(mask.column);
    VIRIDIAN_TRY(std::vector<train::ColumnPrint> all, train::fingerprints(task.samples, columns, "--data"));
    if (!task.evaluation_samples) return all;
    VIRIDIAN_TRY(const std::vector<train::ColumnPrint> more,
                 train::fingerprints(*task.evaluation_samples, columns, "--eval"));
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

// Weights that make rare classes count as much as frequent ones.
Result<std::vector<double>> balanced_weights(const train::Task& task, const std::string& labels,
                                             const data::BatchOptions& batches) {
    const auto input = std::ranges::find(batches.inputs, labels, &data::InputOptions::input);
    if (input == batches.inputs.end() || input->classes == 0)
        return fail(ErrorCode::invalid_argument, "give the numbers, as in --class-weights 1,2,0.5",
                    "the loss has no labels of classes that could be counted");
    VIRIDIAN_TRY(const std::size_t column, task.samples.find(input->column));
    VIRIDIAN_TRY(const std::vector<std::int64_t> counts,
                 data::label_counts(task.samples, column, task.training, input->classes, input->ignored));
    const graph::Tensor weights = data::class_weights(counts);
    std::vector<double> numbers;
    for (const float weight : weights.values<float>()) numbers.push_back(weight);
    return numbers;
}

Result<std::optional<train::EarlyStop>> early_stop(const TrainOptions& options, const train::Task& task,
                                                   const std::vector<std::string>& metrics) {
    if (options.patience == 0) return std::optional<train::EarlyStop>();
    if (task.evaluation.count() == 0)
        return fail(ErrorCode::invalid_argument, "give samples with --eval FILE or --eval-share 0.1",
                    "--patience counts evaluations, and there are none");
    VIRIDIAN_TRY(const train::Metric first, train::parse_metric(metrics[0]));
    return std::optional(train::EarlyStop{.patience = options.patience,
                                          .least_gain = options.least_gain,
                                          .lower_is_better = first.lower_is_better()});
}

Result<std::optional<train::CheckpointOptions>> checkpoints(const TrainOptions& options,
                                                            const std::vector<std::string>& metrics) {
    if (options.checkpoints.empty()) {
        if (!options.resume) return std::optional<train::CheckpointOptions>();
        return fail(ErrorCode::invalid_argument, "name the folder with --checkpoints FOLDER",
                    "--resume needs the checkpoints of the run");
    }
    train::Keep keep{.last = options.keep};
    if (!metrics.empty()) {
        VIRIDIAN_TRY(const train::Metric first, train::parse_metric(metrics[0]));
        keep.lower_is_better = first.lower_is_better();
    }
    if (!options.resume && !train::checkpoints_in(options.checkpoints).empty())
        return fail(ErrorCode::invalid_argument, "go on from it with --resume, or name an empty folder",
                    "{} holds the checkpoints of an earlier run", options.checkpoints);
    return std::optional(train::CheckpointOptions{.folder = options.checkpoints,
                                                  .keep = keep,
                                                  .every = options.every,
                                                  .resume = options.resume,
                                                  .changed_data = options.changed_data});
}

// A network that computes its loss itself has no labels.
Result<void> check_judges(const TrainOptions& options, const train::Task& task, gradient::LossKind loss) {
    if (task.evaluation.count() == 0 || loss != gradient::LossKind::output || options.rate_finder) return {};
    return fail(ErrorCode::invalid_argument, "leave --eval and --eval-share out",
                "an evaluation compares outputs with labels, and --loss output has none");
}

// Says what a reader of the options may not expect of this run.
void tell_surprises(const TrainOptions& options, const train::Task& task, const train::RunOptions& run,
                    const graph::Graph& forward, Listener& listener) {
    const auto fixed = std::ranges::count_if(forward.nodes(), [&](graph::NodeId id) {
        const graph::Node& node = forward.node(id);
        return node.op == graph::op::BatchNormalization && node.integer("training_mode", 0) == 0;
    });
    if (fixed > 0)
        listener.note(
            fmt::format("{} and dropout, if there was any, is gone, because the model was exported for "
                        "inference; an export for training trains both",
                        fixed == 1 ? "1 batch normalisation keeps its statistics"
                                   : fmt::format("{} batch normalisations keep their statistics", fixed)));
    const auto judged = gradient::loss_output_of(forward, run.step.loss);
    const graph::Node* last = judged.ok() ? forward.producer(*judged) : nullptr;
    if (run.step.loss.kind == gradient::LossKind::negative_log_likelihood && last != nullptr &&
        last->op != graph::op::LogSoftmax && last->op != graph::op::Log)
        listener.warning(
            fmt::format("--loss nll wants logarithms of probabilities, and the output is that of a {}; "
                        "--loss cross-entropy takes scores of any size",
                        last->op.name()));
    const std::int64_t samples = run.batch * run.accumulate;
    const std::int64_t count = task.training.count();
    train::RunLength length;
    length.steps_per_epoch =
        std::max<std::int64_t>(1, task.fixed_batch ? count / samples : (count + samples - 1) / samples);
    length.steps = options.epochs * length.steps_per_epoch;
    if (const double warmup = run.schedule.warmup(length);
        !options.rate_finder && warmup >= static_cast<double>(length.steps))
        listener.warning(
            fmt::format("the warm-up takes {:.0f} steps and the run has {}, so that the rate never "
                        "reaches --rate",
                        warmup, length.steps));
}

// Draws what is trained, and the running statistics.
Result<void> draw_weights(const TrainOptions& options, const graph::Graph& forward,
                          const gradient::Step& step, Start& start, Listener& listener) {
    if (!options.initialise) return {};
    VIRIDIAN_TRY(const train::Drawing drawing, train::parse_drawing(options.initialise_as));
    std::vector<std::string> names = step.statistics;
    for (const gradient::Trained& parameter : step.parameters) names.push_back(parameter.name);
    VIRIDIAN_TRY(train::Redrawn redrawn,
                 train::redraw(forward, names, drawing, static_cast<std::uint64_t>(*options.initialise)));
    if (!redrawn.kept.empty())
        listener.warning(fmt::format(
            "--initialise draws weights, biases, scales and tables of layers; these keep their values: {}",
            fmt::join(redrawn.kept, ", ")));
    start.drawn = std::move(redrawn.weights);
    return {};
}

// A head that is not trained would stay what was drawn.
Result<void> check_head(const std::vector<std::string>& head, const gradient::Step& step) {
    for (const std::string& name : head)
        if (std::ranges::find(step.frozen, name) != step.frozen.end())
            return fail(ErrorCode::invalid_argument, fmt::format("add --train {}", name),
                        "the new head has the parameter `{}`, and it is frozen", name);
    return {};
}

}  // namespace

Result<train::RunOptions> run_options(const TrainOptions& options, const train::Task& task, Start& start,
                                      Listener& listener) {
    train::RunOptions run;
    VIRIDIAN_TRY(run.step, step_options(options.step));
    if (!options.model.memory.empty()) {
        VIRIDIAN_TRY(run.step.memory, parse_size(options.model.memory));
        ModelOptions model = options.model;
        model.allow.clear();  // only --tune makes kernels round to bf16
        run.step.need = [model](const graph::Graph& step) { return session::planned_need(step, model); };
    }
    VIRIDIAN_TRY(run.schedule, train::parse_schedule(options.schedule));
    run.rate = options.rate;
    run.epochs = options.epochs;
    run.batch = options.model.batch;
    run.accumulate = options.accumulate;
    run.choose_stacking = wants_cheapest_stacking(options.step);
    run.seed = options.seed;
    run.shuffle = !options.in_order;
    run.metrics = options.metrics;
    run.average_decay = options.average;
    run.keep_best = exports_best(options);
    VIRIDIAN_TRY(check_trains(run.step));
    if (run.metrics.empty() && task.evaluation.count() > 0) run.metrics = usual_metrics(run.step.loss.kind);
    for (const std::string& name : run.metrics) VIRIDIAN_TRY(train::parse_metric(name));
    VIRIDIAN_TRY(check_judges(options, task, run.step.loss.kind));
    VIRIDIAN_TRY(run.early_stop, early_stop(options, task, run.metrics));
    VIRIDIAN_TRY(run.checkpoints, checkpoints(options, run.metrics));
    run.written = written(options, run.schedule.row->follows_length);
    // The inputs of the step tell which columns are needed.
    VIRIDIAN_TRY(const graph::Graph forward, task.network(task.batch(run.batch)));
    gradient::StepOptions unlimited = run.step;
    unlimited.memory.reset();
    VIRIDIAN_TRY(const gradient::Step step, gradient::training_step(forward, unlimited));
    tell_surprises(options, task, run, forward, listener);
    VIRIDIAN_TRY(run.batches,
                 batch_options(options.data, task.samples, train::data_inputs(step.graph), options.seed));
    VIRIDIAN_TRY(bound_labels(run.step.loss, forward, step.labels, run.batches));
    VIRIDIAN_TRY(check_all_labels(task.samples, task.training, step.labels, run.batches));
    VIRIDIAN_TRY(check_all_labels(task.evaluation_samples.value_or(task.samples), task.evaluation,
                                  step.labels, run.batches));
    if (run.checkpoints) {
        VIRIDIAN_TRY(run.checkpoints->data, prints_of(task, run.batches));
    }
    if (wants_balance(options.step)) {
        VIRIDIAN_TRY(run.step.loss.class_weights, balanced_weights(task, step.labels, run.batches));
    }
    if (options.head > 0) {
        VIRIDIAN_TRY(const train::NewHead made, begun(options, forward, {}));
        start.head = made.parameters;
        VIRIDIAN_TRY(check_head(start.head, step));
    }
    VIRIDIAN_TRY(draw_weights(options, forward, step, start, listener));
    return run;
}

}  // namespace viridian::cli
