// Trains a model on samples from files.
#include "viridian/train/loop/train.hpp"

#include <cmath>
#include <memory>

#include "viridian/base/destination.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/output_paths.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/model/files_read.hpp"
#include "viridian/cli/terminal_listener.hpp"
#include "viridian/cli/train/energy_answer.hpp"
#include "viridian/cli/train/task.hpp"
#include "viridian/cli/train/unused_options.hpp"
#include "viridian/cli/train/written_model.hpp"
#include "viridian/report/page.hpp"
#include "viridian/train/log/event_file.hpp"
#include "viridian/train/log/line_log.hpp"
#include "viridian/train/log/progress.hpp"

namespace viridian::cli {
namespace {

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

// How many samples train, are left out of each epoch, and judge.
struct SampleCounts {
    std::int64_t training = 0, left_out = 0, evaluation = 0;
};

SampleCounts counts_of(const train::Task& task, const train::RunOptions& run) {
    const std::int64_t step = run.batch * run.accumulate;
    return {.training = task.training.count(),
            .left_out = task.fixed_batch ? task.training.count() % step : 0,
            .evaluation = task.evaluation.count()};
}

std::string text_of(const SampleCounts& counts) {
    std::string text = counted(counts.training, "sample") + " to train on";
    if (counts.evaluation > 0) text += fmt::format(", {} to judge", counts.evaluation);
    if (counts.left_out > 0)
        text += fmt::format("; each epoch leaves out {}, because the batch is fixed", counts.left_out);
    return text;
}

// When the run had the weights that were written: "the weights after epoch 3".
std::string text_of(const train::WeightsOf& weights, const std::vector<std::string>& metrics) {
    if (weights.best)
        return fmt::format("the weights after epoch {}, the best with {} {:.4f}", weights.epoch, metrics[0],
                           *weights.score);
    return weights.between || weights.epoch == 0 ? fmt::format("the weights after step {}", weights.step)
                                                 : fmt::format("the weights after epoch {}", weights.epoch);
}

void add_weights(const train::TrainResult& result, const std::vector<std::string>& metrics, Answer& answer) {
    const train::WeightsOf& of = result.weights_of;
    answer.json["weights"] = {{"kind", of.best ? "best" : "last"}, {"epoch", of.epoch}, {"step", of.step}};
    if (of.best) answer.json["weights"]["metric"] = metrics[0];
    if (of.best) answer.json["weights"]["score"] = *of.score;
}

void add_versions(const WrittenVersions& versions, Answer& answer) {
    const auto json = [](const onnx::Versions& one) { return Json{{"opset", one.opset}, {"ir", one.ir}}; };
    answer.json["versions"] = {{"given", json(versions.given)}, {"written", json(versions.written)}};
    if (versions.given.opset != versions.written.opset)
        answer.text += fmt::format("it is written in operator set {}; the given file has {}\n",
                                   versions.written.opset, versions.given.opset);
}

void add_proof(const prove::Proof& proof, const std::string& file, Answer& answer) {
    answer.json["proof"] = Json::array();
    const prove::OutputAgreement* worst = nullptr;
    for (const prove::OutputAgreement& output : proof.outputs) {
        answer.json["proof"].push_back(
            {{"output", output.name}, {"error", output.error}, {"allowed", output.allowed}});
        if (worst == nullptr || output.error > worst->error) worst = &output;
    }
    if (worst != nullptr)
        answer.text += fmt::format("{} gives the outputs of the run: relative error {:.2g}, allowed {:.2g}\n",
                                   file, worst->error, worst->allowed);
}

Answer describe(const TrainOptions& options, const Start& start, const SampleCounts& counts,
                const std::vector<std::string>& metrics, const train::TrainResult& result,
                const RunMeter& meter) {
    Answer answer;
    answer.json = {
        {"schema", "viridian.train/1"},
        {"model", options.model.model},
        {"file", options.output},
        {"parameters", result.parameters},
        {"samples",
         {{"training", counts.training}, {"left_out", counts.left_out}, {"evaluation", counts.evaluation}}},
        {"steps", result.steps},
        {"cancelled", result.cancelled},
        {"stopped_early", result.stopped_early},
        {"new_head", start.head},
        {"drawn", start.drawn.size()},
        {"resumed_from", result.resumed_from ? Json(result.resumed_from->string()) : Json()},
        {"epochs", Json::array()}};
    answer.text = fmt::format("{} parameters\n{}\n", result.parameters, text_of(counts));
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
    answer.text += fmt::format("{}: {}, wrote {} with {}\n", end, counted(result.steps, "step"),
                               options.output, text_of(result.weights_of, metrics));
    add_weights(result, metrics, answer);
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

// Nothing that the run writes may replace what it reads. A folder of samples takes no files of the run.
Result<void> check_files(const TrainOptions& options) {
    std::vector<Path> reads = files_read(options.model, {});
    const std::vector<Path> samples = {options.data.path, options.data.evaluation};
    reads.insert(reads.end(), samples.begin(), samples.end());
    const std::vector<Path> writes = {options.output, options.html,        options.log,
                                      options.record, options.tensorboard, options.checkpoints};
    VIRIDIAN_TRY(check_replaces_nothing(writes, reads));
    VIRIDIAN_TRY(check_all_different({options.output, options.html, options.log}));
    for (const Path& folder : samples)
        for (const Path& write : writes)
            if (!write.empty() && !folder.empty() && lies_in(write, folder))
                return fail(ErrorCode::invalid_argument, "choose a place outside of it for the output",
                            "`{}` would lie among the samples in the folder `{}`", write.string(),
                            folder.string());
    for (const std::string& file : {options.output, options.html, options.log})
        if (!file.empty()) VIRIDIAN_TRY(check_writable(file));
    return {};
}

Result<void> check_options(const TrainOptions& options) {
    VIRIDIAN_TRY(check_train_options_used(options));
    if (options.output.empty() && !options.rate_finder)
        return fail(ErrorCode::invalid_argument, "name it, as in -o trained.onnx",
                    "the file for the trained model is missing");
    VIRIDIAN_TRY(check_files(options));
    return {};
}

Result<Answer> run_train(TrainOptions options) {
    VIRIDIAN_TRY(check_options(options));
    const auto start = std::make_shared<Start>();
    TerminalListener listener;
    VIRIDIAN_TRY(const train::Task task, task_of(options, start, listener));
    VIRIDIAN_TRY(check_data_options_used(options, task));
    VIRIDIAN_TRY(train::RunOptions run, run_options(options, task, *start, listener));
    if (options.rate_finder) return run_rate_finder(options, task, run, listener);
    VIRIDIAN_TRY(const std::unique_ptr<RunMeter> meter,
                 RunMeter::open(options.model.meter, options.record, listener));
    run.watch = meter.get();
    const SampleCounts counts = counts_of(task, run);
    if (counts.left_out > 0) listener.note(text_of(counts));
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
    const auto keep = [&](const Result<void>& done) {
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
    const auto versions = write_trained(options, task.samples, result);
    if (!versions.ok()) return not_exported(versions.error(), result);
    std::optional<prove::Proof> proof;
    if (result.witness) {
        auto made = prove_written(options.output, options.model, *result.witness);
        if (made.ok())
            proof = std::move(made).value();
        else if (!failure)
            failure = made.error();
    }
    if (proof) VIRIDIAN_TRY(check_proven(*proof, options.output));
    meter->finish();
    if (!failure) failure = meter->failure();
    Answer answer = describe(options, *start, counts, run.metrics, result, *meter);
    add_versions(*versions, answer);
    if (proof) add_proof(*proof, options.output, answer);
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
