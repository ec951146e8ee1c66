// Trains a model on samples from files.
#include "viridian/train/loop/train.hpp"

#include <memory>

#include "viridian/base/destination.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/cli/terminal_listener.hpp"
#include "viridian/cli/train/data_options.hpp"
#include "viridian/cli/train/step_options.hpp"
#include "viridian/data/categories.hpp"
#include "viridian/gradient/evaluation.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/session/session.hpp"
#include "viridian/train/log/event_file.hpp"
#include "viridian/train/log/line_log.hpp"
#include "viridian/train/log/progress.hpp"
#include "viridian/train/metric/metric.hpp"

namespace viridian::cli {
namespace {

struct TrainOptions {
    ModelOptions model;
    StepChoice step;
    DataChoice data;
    std::string output;
    double rate = 1e-3;
    std::string schedule = "constant";
    std::int64_t epochs = 1;
    std::uint64_t seed = 0;
    bool in_order = false;
    std::vector<std::string> metrics;
    std::string checkpoints;  // folder
    std::int64_t every = 0;
    int keep = 3;
    bool resume = false;
    std::string log;          // JSON lines
    std::string tensorboard;  // folder
};

// The options that a resumed run must repeat, because its result depends on them.
std::map<std::string, std::string> written(const TrainOptions& o) {
    const gradient::LossOptions& loss = o.step.step.loss;
    const gradient::OptimizerOptions& optimizer = o.step.step.optimizer;
    const auto list = [](const auto& values) { return fmt::format("{}", fmt::join(values, " ")); };
    const auto number = [](auto value) { return fmt::format("{}", value); };
    return {{"--data", o.data.path},
            {"--eval", o.data.evaluation},
            {"--eval-share", number(o.data.evaluation_share)},
            {"--input", list(o.data.inputs)},
            {"--label-column", o.data.open.csv.label},
            {"--context", number(o.data.open.text.context)},
            {"--bytes", number(o.data.text_bytes)},
            {"--scale", number(o.data.scale)},
            {"--mean", list(o.data.mean)},
            {"--std", list(o.data.deviation)},
            {"--flip", number(o.data.flip)},
            {"--crop", number(o.data.crop)},
            {"--dim", list(o.model.dimensions)},
            {"--batch", number(o.model.batch)},
            {"--loss", o.step.loss},
            {"--output", loss.output},
            {"--label-smoothing", number(loss.label_smoothing)},
            {"--ignore-label", number(loss.ignored_label)},
            {"--class-weights", list(loss.class_weights)},
            {"--class-axis", number(o.step.class_axis)},
            {"--huber-delta", number(loss.delta)},
            {"--optimizer", o.step.optimizer},
            {"--momentum", number(optimizer.momentum)},
            {"--nesterov", number(optimizer.nesterov)},
            {"--beta1", number(optimizer.beta1)},
            {"--beta2", number(optimizer.beta2)},
            {"--alpha", number(optimizer.alpha)},
            {"--epsilon", number(o.step.epsilon)},
            {"--weight-decay", number(o.step.decay)},
            {"--decay-of", list(o.step.decays)},
            {"--clip", number(o.step.step.clip_norm)},
            {"--freeze", list(o.step.freeze)},
            {"--train", list(o.step.train)},
            {"--rate", number(o.rate)},
            {"--schedule", o.schedule},
            {"--epochs", number(o.epochs)},
            {"--seed", number(o.seed)},
            {"--in-order", number(o.in_order)}};
}

// Makes a graph ready on the processor, with the first kernels that it offers.
Result<train::Ready> ready(graph::Graph graph, const ModelOptions& options) {
    VIRIDIAN_TRY(rewrite::simplify(graph));
    session::LoadedModel model;
    model.graph = std::move(graph);
    VIRIDIAN_TRY(session::Session made, session::prepare(std::move(model), options));
    const auto owner = std::make_shared<session::Session>(std::move(made));
    return train::Ready{owner->planned.graph, {owner, owner->planned.executable.get()}};
}

Result<train::Task> task_of(const TrainOptions& options) {
    train::Task task;
    data::OpenOptions open = options.data.open;
    open.text.bytes = options.data.text_bytes;
    VIRIDIAN_TRY(task.samples, data::open(options.data.path, open));
    if (!options.data.evaluation.empty()) {
        for (std::size_t i = 0; i < task.samples.columns(); ++i) {  // the words of the training data
            const data::Column& column = task.samples.column(i);
            if (column.categories.empty()) continue;
            open.text.vocabulary = open.csv.categories = open.folder.categories = column.categories;
        }
        VIRIDIAN_TRY(task.evaluation_samples, data::open(options.data.evaluation, open));
        task.training = data::Subset(task.samples.samples());
        task.evaluation = data::Subset(task.evaluation_samples->samples());
    } else {
        const bool text = task.samples.columns() > 0 && task.samples.column(0).name == "tokens";
        VIRIDIAN_TRY(const data::Split split,
                     data::split(task.samples.samples(), options.data.evaluation_share,
                                 text ? data::SplitBy::tail : data::SplitBy::seed, options.seed));
        task.training = split.training;
        task.evaluation = split.evaluation;
    }
    task.network = [model = options.model](std::int64_t batch) {
        ModelOptions sized = model;
        sized.batch = batch;
        sized.runs = false;
        return session::load_model(sized);
    };
    task.prepare = [model = options.model](graph::Graph graph) { return ready(std::move(graph), model); };
    return task;
}

// The metrics of an evaluation that asks for none. A loss on logits of single numbers has no usual one.
std::vector<std::string> usual_metrics(gradient::LossKind loss) {
    switch (loss) {
        case gradient::LossKind::cross_entropy:
        case gradient::LossKind::negative_log_likelihood:
            return {"top-1", "cross-entropy"};
        case gradient::LossKind::mean_squared_error:
        case gradient::LossKind::huber:
            return {"mse"};
        case gradient::LossKind::mean_absolute_error:
            return {"mae"};
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

// Labels are checked against the number of classes.
void bound_labels(const gradient::LossOptions& loss, const graph::Graph& forward, const std::string& labels,
                  data::BatchOptions& batches) {
    if (loss.kind != gradient::LossKind::cross_entropy &&
        loss.kind != gradient::LossKind::negative_log_likelihood)
        return;
    graph::ValueId output = forward.outputs()[0];
    for (const graph::ValueId id : forward.outputs())
        if (forward.value(id).name == loss.output) output = id;
    const graph::Dims dims = forward.value(output).type.dims();
    const auto rank = static_cast<std::int64_t>(dims.size());
    std::int64_t axis = loss.class_axis.value_or(rank == 3 ? 2 : 1);
    if (axis < 0) axis += rank;
    for (data::InputOptions& input : batches.inputs)
        if (input.input == labels && axis > 0 && axis < rank) {
            input.classes = dims[static_cast<std::size_t>(axis)];
            input.ignored = loss.ignored_label;
        }
}

Result<train::RunOptions> run_options(const TrainOptions& options, const train::Task& task) {
    train::RunOptions run;
    VIRIDIAN_TRY(run.step, step_options(options.step));
    VIRIDIAN_TRY(run.schedule, train::parse_schedule(options.schedule));
    run.rate = options.rate;
    run.epochs = options.epochs;
    run.batch = options.model.batch;
    run.seed = options.seed;
    run.shuffle = !options.in_order;
    run.metrics = options.metrics;
    VIRIDIAN_TRY(check_trains(run.step));
    if (run.metrics.empty() && task.evaluation.count() > 0) run.metrics = usual_metrics(run.step.loss.kind);
    for (const std::string& name : run.metrics) VIRIDIAN_TRY(train::parse_metric(name));
    run.written = written(options);
    if (!options.checkpoints.empty()) {
        train::Keep keep{.last = options.keep};
        if (!run.metrics.empty()) {
            VIRIDIAN_TRY(const train::Metric first, train::parse_metric(run.metrics[0]));
            keep.lower_is_better = first.lower_is_better();
        }
        if (!options.resume && !train::checkpoints_in(options.checkpoints).empty())
            return fail(ErrorCode::invalid_argument, "go on from it with --resume, or name an empty folder",
                        "{} holds the checkpoints of an earlier run", options.checkpoints);
        run.checkpoints = train::CheckpointOptions{options.checkpoints, keep, options.every, options.resume};
    } else if (options.resume) {
        return fail(ErrorCode::invalid_argument, "name the folder with --checkpoints FOLDER",
                    "--resume needs the checkpoints of the run");
    }
    // The inputs of the step tell which columns are needed.
    const std::int64_t batch = task.fixed_batch ? run.batch : std::min(run.batch, task.training.count());
    VIRIDIAN_TRY(const graph::Graph forward, task.network(batch));
    VIRIDIAN_TRY(const gradient::Step step, gradient::training_step(forward, run.step));
    std::vector<data::ModelInput> inputs;
    for (const graph::ValueId id : step.graph.inputs())
        if (!step.graph.value(id).name.starts_with("viridian."))
            inputs.push_back({step.graph.value(id).name, step.graph.value(id).type});
    VIRIDIAN_TRY(run.batches, batch_options(options.data, task.samples, inputs, options.seed));
    bound_labels(run.step.loss, forward, step.labels, run.batches);
    return run;
}

// Writes the user's model with the trained weights.
Result<void> export_model(const TrainOptions& options, const data::Dataset& samples,
                          const train::TrainResult& result) {
    VIRIDIAN_TRY(const graph::Graph original, onnx::load(options.model.model));
    VIRIDIAN_TRY(graph::Graph trained, gradient::with_weights(original, result.weights));
    for (std::size_t i = 0; i < samples.columns();
         ++i)  // what the numbers of its inputs and labels stand for
        if (const data::Column& column = samples.column(i); !column.categories.empty())
            trained.metadata["viridian.categories." + column.name] = data::categories_text(column.categories);
    return onnx::save(trained, options.output);
}

Answer describe(const TrainOptions& options, const train::TrainResult& result) {
    Answer answer;
    answer.json = {{"schema", "viridian.train/1"},
                   {"model", options.model.model},
                   {"file", options.output},
                   {"parameters", result.parameters},
                   {"steps", result.steps},
                   {"cancelled", result.cancelled},
                   {"resumed_from", result.resumed_from ? Json(result.resumed_from->string()) : Json()},
                   {"epochs", Json::array()}};
    answer.text = fmt::format("{} parameters\n", result.parameters);
    for (const train::EpochRecord& epoch : result.epochs) {
        answer.json["epochs"].push_back({{"epoch", epoch.epoch},
                                         {"loss", epoch.loss},
                                         {"seconds", epoch.seconds.value},
                                         {"samples", epoch.samples},
                                         {"metrics", epoch.metrics}});
        std::string metrics;
        for (const auto& [name, value] : epoch.metrics) metrics += fmt::format("  {} {:.4f}", name, value);
        answer.text += fmt::format("epoch {:<4} loss {:.4f}{}  {:.1f} samples/s\n", epoch.epoch, epoch.loss,
                                   metrics, static_cast<double>(epoch.samples) / epoch.seconds.value);
    }
    answer.text += fmt::format("{}: {} steps, wrote {}\n", result.cancelled ? "stopped" : "done",
                               result.steps, options.output);
    return answer;
}

// The batch that the model's inputs have as a number; nothing if it is free.
Result<std::optional<std::int64_t>> fixed_batch(const TrainOptions& options) {
    VIRIDIAN_TRY(graph::Graph graph, onnx::load(options.model.model));
    VIRIDIAN_TRY(session::bind_sizes(graph, options.model.dimensions, 0));
    if (graph.inputs().empty()) return std::optional<std::int64_t>();
    const graph::TensorType& type = graph.value(graph.inputs()[0]).type;
    if (!type.shape || type.shape->empty() || !(*type.shape)[0].known()) return std::optional<std::int64_t>();
    return std::optional((*type.shape)[0].value());
}

Result<Answer> run_train(TrainOptions options) {
    VIRIDIAN_TRY(check_writable(options.output));
    if (!options.model.as.empty())
        return fail(ErrorCode::unsupported, "export the model in f32 first",
                    "--as changes the parameters, so that the file could not take the trained ones");
    VIRIDIAN_TRY(const std::optional<std::int64_t> fixed, fixed_batch(options));
    if (fixed && options.model.batch != 0 && options.model.batch != *fixed)
        return fail(ErrorCode::mismatch, "export the model with a free batch, or leave --batch out",
                    "the model takes batches of {}, and --batch asks for {}", *fixed, options.model.batch);
    if (options.model.batch == 0) options.model.batch = fixed.value_or(32);
    VIRIDIAN_TRY(train::Task task, task_of(options));
    task.fixed_batch = fixed.has_value();
    VIRIDIAN_TRY(const train::RunOptions run, run_options(options, task));
    TerminalListener listener;
    std::optional<train::LineLog> log;
    std::optional<train::EventFile> events;
    const auto wall = [] {
        return Seconds(
            std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
    };
    if (!options.tensorboard.empty()) {
        VIRIDIAN_TRY(events, train::EventFile::create(options.tensorboard, wall()));
    }
    std::optional<Error> failure;  // of a log, which must not lose the run
    const auto on_step = [&](const train::StepRecord& record) {
        listener.progress(train::progress_line(record));
        const auto keep = [&](Result<void> done) {
            if (!done.ok() && !failure) failure = done.error();
        };
        if (!options.log.empty() && !log &&
            !failure) {  // a resumed run keeps the lines before its first step
            const auto before = record.step > 1 ? std::optional(record.step - 1) : std::nullopt;
            auto opened = train::LineLog::open(options.log, before);
            if (opened.ok())
                log = std::move(opened).value();
            else
                failure = opened.error();
        }
        if (log) keep(log->add(record));
        if (events) keep(events->add(wall(), record.step, train::scalars_of(record)));
    };
    VIRIDIAN_TRY(const train::TrainResult result, train::train(task, run, listener, on_step));
    VIRIDIAN_TRY(export_model(options, task.samples, result));
    if (failure) return std::move(*failure);
    return describe(options, result);
}

}  // namespace

Command train_command() {
    return {
        "train", "Trains a model on samples from files",
        "viridian train mlp.onnx --data digits.npz --eval-share 0.1 --epochs 5 -o trained.onnx", [](App app) {
            auto options = std::make_shared<TrainOptions>();
            add_model_options(app, options->model);
            app.add_option("-o,--trained", options->output, "The trained .onnx to write").required();
            add_data_options(app, options->data);
            add_step_options(app, options->step);
            app.add_option("--rate", options->rate, "The learning rate")
                .check(positive_number())
                .capture_default_str();
            app.add_option("--schedule", options->schedule,
                           "How the rate changes: constant, cosine:final=0.01,warmup=100, … (docs/train.md)")
                .capture_default_str();
            app.add_option("--epochs", options->epochs, "How often every sample is used")
                .check(positive_number())
                .capture_default_str();
            app.add_option("--seed", options->seed,
                           "Of the order of samples, the split, augmentation and dropout")
                .capture_default_str();
            app.add_flag("--in-order", options->in_order, "Do not shuffle the samples");
            app.add_option("--metric", options->metrics,
                           "What evaluations print: top-1, top-5, f1:macro, perplexity, mse, …");
            app.add_option("--checkpoints", options->checkpoints, "Folder for checkpoints");
            app.add_option("--every", options->every, "Steps between checkpoints (default: an epoch)")
                .check(positive_number());
            app.add_option("--keep", options->keep, "How many checkpoints stay, beside the best")
                .check(positive_number())
                .capture_default_str();
            app.add_flag("--resume", options->resume, "Go on from the newest checkpoint");
            app.add_option("--log", options->log, "File for one JSON object a step");
            app.add_option("--tensorboard", options->tensorboard, "Folder for TensorBoard's scalars");
            return [options] { return run_train(*options); };
        }};
}

}  // namespace viridian::cli
