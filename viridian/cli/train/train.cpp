// Trains a model on samples from files.
#include "viridian/train/loop/train.hpp"

#include <memory>

#include "viridian/base/destination.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/cli/terminal_listener.hpp"
#include "viridian/cli/train/data_options.hpp"
#include "viridian/cli/train/step_options.hpp"
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
    return {{"--data", o.data.path},
            {"--batch", std::to_string(o.model.batch)},
            {"--loss", o.step.loss},
            {"--optimizer", o.step.optimizer},
            {"--rate", fmt::format("{}", o.rate)},
            {"--schedule", o.schedule},
            {"--epochs", std::to_string(o.epochs)},
            {"--seed", std::to_string(o.seed)},
            {"--weight-decay", fmt::format("{}", o.step.step.optimizer.decay)},
            {"--clip", fmt::format("{}", o.step.step.clip_norm)}};
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
    const bool classes = run.step.loss.kind == gradient::LossKind::cross_entropy;
    if (run.metrics.empty() && task.evaluation.count() > 0)
        run.metrics =
            classes ? std::vector<std::string>{"top-1", "cross-entropy"} : std::vector<std::string>{"mse"};
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
    return run;
}

// Writes the user's model with the trained weights.
Result<void> export_model(const TrainOptions& options, const train::TrainResult& result) {
    VIRIDIAN_TRY(const graph::Graph original, onnx::load(options.model.model));
    VIRIDIAN_TRY(const graph::Graph trained, gradient::with_weights(original, result.weights));
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
    VIRIDIAN_TRY(const graph::Graph graph, onnx::load(options.model.model));
    if (graph.inputs().empty()) return std::optional<std::int64_t>();
    const graph::TensorType& type = graph.value(graph.inputs()[0]).type;
    if (!type.shape || type.shape->empty() || !(*type.shape)[0].known()) return std::optional<std::int64_t>();
    return std::optional((*type.shape)[0].value());
}

Result<Answer> run_train(TrainOptions options) {
    VIRIDIAN_TRY(check_writable(options.output));
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
    if (!options.log.empty()) {
        VIRIDIAN_TRY(log, train::LineLog::open(options.log, std::nullopt));
    }
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
        if (log) keep(log->add(record));
        if (events) keep(events->add(wall(), record.step, train::scalars_of(record)));
    };
    VIRIDIAN_TRY(const train::TrainResult result, train::train(task, run, listener, on_step));
    VIRIDIAN_TRY(export_model(options, result));
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
            app.add_option("--seed", options->seed, "Of the order of samples and of the split")
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
