// Trains a model on samples from files.
#include "viridian/train/loop/train.hpp"

#include <cmath>
#include <memory>

#include "viridian/base/destination.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/system/reserved_space.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/terminal_listener.hpp"
#include "viridian/cli/train/energy_answer.hpp"
#include "viridian/cli/train/task.hpp"
#include "viridian/cli/train/unused_options.hpp"
#include "viridian/data/categories.hpp"
#include "viridian/gradient/evaluation.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/report/page.hpp"
#include "viridian/train/log/event_file.hpp"
#include "viridian/train/log/line_log.hpp"
#include "viridian/train/log/progress.hpp"

namespace viridian::cli {
namespace {

// Writes the user's model with the trained weights.
Result<void> export_model(const TrainOptions& options, const data::Dataset& samples,
                          const train::TrainResult& result) {
    VIRIDIAN_TRY(graph::Graph original, onnx::load(options.model.model));
    VIRIDIAN_TRY(const train::NewHead begin, begun(options, std::move(original), {}));
    VIRIDIAN_TRY(graph::Graph trained, gradient::with_weights(begin.network, result.weights));
    for (std::size_t i = 0; i < samples.columns();
         ++i)  // what the numbers of its inputs and labels stand for
        if (const data::Column& column = samples.column(i); !column.categories.empty())
            trained.metadata["viridian.categories." + column.name] = data::categories_text(column.categories);
    return onnx::save(trained, options.output);
}

// Keeps room for the trained model, which is as large as the given one, from before the first step on.
Result<ReservedSpace> room_for_model(const TrainOptions& options) {
    VIRIDIAN_TRY(const graph::Graph original, onnx::load(options.model.model));
    VIRIDIAN_TRY(const train::NewHead begin, begun(options, original, {}));
    std::uint64_t constants = 0;
    for (std::size_t i = 0; i < begin.network.value_count(); ++i)
        if (const graph::Tensor* tensor = begin.network.constant(static_cast<graph::ValueId>(i)))
            constants += static_cast<std::uint64_t>(tensor->byte_count());
    std::error_code unknown;
    const std::uintmax_t file = std::filesystem::file_size(options.model.model, unknown);
    const std::uint64_t text = unknown ? 0 : std::uint64_t{file};
    return ReservedSpace::make(options.output, text < constants ? text + constants : text);
}

// Says where the weights are that could not be written.
Error not_exported(Error error, const train::TrainResult& result) {
    if (result.checkpoint)
        error.next_step +=
            fmt::format("; `{}` holds the weights: train again with --resume to write the model",
                        result.checkpoint->string());
    return error;
}

// "  evaluation loss 0.7859  top-1 0.7238"; empty without an evaluation.
std::string judged_text(const std::optional<train::EvaluationRecord>& evaluation) {
    if (!evaluation) return "";
    std::string text = fmt::format("  evaluation loss {:.4f}", evaluation->loss);
    for (const auto& [name, value] : evaluation->metrics) text += fmt::format("  {} {:.4f}", name, value);
    return text;
}

Answer describe(const TrainOptions& options, const Start& start, const train::TrainResult& result,
                const RunMeter& meter) {
    Answer answer;
    answer.json = {{"schema", "viridian.train/1"},
                   {"model", options.model.model},
                   {"file", options.output},
                   {"parameters", result.parameters},
                   {"steps", result.steps},
                   {"cancelled", result.cancelled},
                   {"stopped_early", result.stopped_early},
                   {"new_head", start.head},
                   {"drawn", start.drawn.size()},
                   {"resumed_from", result.resumed_from ? Json(result.resumed_from->string()) : Json()},
                   {"epochs", Json::array()}};
    answer.text = fmt::format("{} parameters\n", result.parameters);
    if (!start.head.empty())
        answer.text +=
            fmt::format("a new head of {} classes: {}\n", options.head, fmt::join(start.head, ", "));
    if (!start.drawn.empty()) answer.text += fmt::format("{} tensors drawn anew\n", start.drawn.size());
    for (const train::EpochRecord& epoch : result.epochs) {
        const ActivityJoules joules = meter.epoch(epoch.epoch);
        const auto& evaluation = epoch.evaluation;
        Json json = {{"epoch", epoch.epoch},
                     {"step", epoch.step},
                     {"loss", epoch.loss},
                     {"seconds", epoch.seconds.value},
                     {"samples", epoch.samples},
                     {"evaluation_loss", evaluation ? Json(evaluation->loss) : Json()},
                     {"metrics", evaluation ? Json(evaluation->metrics) : Json::object()}};
        json.update(to_json(joules));
        answer.json["epochs"].push_back(std::move(json));
        answer.text +=
            fmt::format("epoch {:<4} loss {:.4f}{}  {:.1f} samples/s{}\n", epoch.epoch, epoch.loss,
                        judged_text(evaluation), static_cast<double>(epoch.samples) / epoch.seconds.value,
                        joules_text(joules));
    }
    const std::string end = result.cancelled       ? std::string("stopped")
                            : result.stopped_early ? fmt::format("stopped early, {} without a gain",
                                                                 counted(options.patience, "evaluation"))
                                                   : std::string("done");
    answer.text += fmt::format("{}: {} steps, wrote {}\n", end, result.steps, options.output);
    return answer;
}

Result<void> write_page(const TrainOptions& options, Answer& answer) {
    if (options.html.empty()) return {};
    VIRIDIAN_TRY(const std::string page, report::page(answer.json));
    VIRIDIAN_TRY(write_file(options.html, page));
    answer.text += fmt::format("wrote {}\n", options.html);
    return {};
}

// Trains on growing rates and says which one to take.
Result<Answer> run_rate_finder(const TrainOptions& options, const train::Task& task,
                               const train::RunOptions& run, Listener& listener) {
    train::RateRange range{.steps = options.rate_steps};
    if (!options.rate_range.empty()) {
        if (options.rate_range.size() != 2 || !(options.rate_range[0] > 0) ||
            !(options.rate_range[1] > options.rate_range[0]) || !(options.rate_range[1] <= 1e6))
            return fail(ErrorCode::invalid_argument, "write --rate-range 1e-7,10",
                        "--rate-range takes two rates, of which the second is higher");
        range.lowest = options.rate_range[0];
        range.highest = options.rate_range[1];
    }
    VIRIDIAN_TRY(const std::vector<train::RateTrial> trials,
                 train::test_rates(task, run, range, listener, [&](const train::StepRecord& record) {
                     listener.progress(train::progress_line(record));
                 }));
    VIRIDIAN_TRY(const train::RateFinding found, train::find_rate(trials));
    Answer answer;
    answer.json = {{"schema", "viridian.rate-finder/1"}, {"model", options.model.model},
                   {"suggested", found.suggested},       {"least_loss_at", found.least},
                   {"diverged", found.diverged},         {"trials", Json::array()}};
    for (const train::RateTrial& trial : trials)
        answer.json["trials"].push_back(
            {{"rate", trial.rate}, {"loss", std::isfinite(trial.loss) ? Json(trial.loss) : Json()}});
    answer.text =
        fmt::format("{} steps with rates from {:.2g} to {:.2g}{}\n", trials.size(), trials.front().rate,
                    trials.back().rate, found.diverged ? ", where the loss diverged" : "");
    answer.text += fmt::format("the loss falls fastest at --rate {:.2g}, and is least at {:.2g}\n",
                               found.suggested, found.least);
    return answer;
}

Result<void> check_options(const TrainOptions& options) {
    VIRIDIAN_TRY(check_train_options_used(options));
    if (options.output.empty() && !options.rate_finder)
        return fail(ErrorCode::invalid_argument, "name it, as in -o trained.onnx",
                    "the file for the trained model is missing");
    for (const std::string& file : {options.output, options.html, options.log})
        if (!file.empty()) VIRIDIAN_TRY(check_writable(file));
    if (!options.model.as.empty())
        return fail(ErrorCode::unsupported, "export the model in f32 first",
                    "--as changes the parameters, so that the file could not take the trained ones");
    return {};
}

Result<Answer> run_train(TrainOptions options) {
    VIRIDIAN_TRY(check_options(options));
    const auto start = std::make_shared<Start>();
    TerminalListener listener;
    VIRIDIAN_TRY(const train::Task task, task_of(options, start));
    VIRIDIAN_TRY(check_data_options_used(options, task));
    VIRIDIAN_TRY(train::RunOptions run, run_options(options, task, *start, listener));
    if (options.rate_finder) return run_rate_finder(options, task, run, listener);
    VIRIDIAN_TRY(const std::unique_ptr<RunMeter> meter,
                 RunMeter::open(options.model.meter, options.record, listener));
    run.watch = meter.get();
    VIRIDIAN_TRY(ReservedSpace room, room_for_model(options));
    train::Curve curve;
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
    const auto keep = [&](Result<void> done) {
        if (!done.ok() && !failure) failure = done.error();
    };
    const auto on_step = [&](const train::StepRecord& record) {
        listener.progress(train::progress_line(record));
        curve.add(record);
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
    const auto on_evaluation = [&](const train::EvaluationRecord& record) {
        if (log) keep(log->add(record));
        if (events) keep(events->add(wall(), record.step, train::scalars_of(record)));
    };
    VIRIDIAN_TRY(const train::TrainResult result, train::train(task, run, listener, on_step, on_evaluation));
    room.release();
    if (auto written = export_model(options, task.samples, result); !written.ok())
        return not_exported(written.error(), result);
    meter->finish();
    if (!failure) failure = meter->failure();
    Answer answer = describe(options, *start, result, *meter);
    add_energy(*meter, curve, answer);
    if (auto page = write_page(options, answer); !page.ok() && !failure) failure = page.error();
    if (failure) {  // the model is there, and so is the summary
        listener.warning(failure->text());
        answer.exit_code = failure->kind() == ErrorKind::user ? 1 : 2;
    }
    return answer;
}

}  // namespace

Command train_command() {
    return {"train", "Trains a model on samples from files",
            "viridian train mlp.onnx --data digits.npz --eval-share 0.1 --epochs 5 -o trained.onnx",
            [](App app) {
                auto options = std::make_shared<TrainOptions>();
                add_train_options(app, *options);
                return [options] { return run_train(*options); };
            }};
}

}  // namespace viridian::cli
