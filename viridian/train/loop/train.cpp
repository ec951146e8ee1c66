#include "viridian/train/loop/train.hpp"

#include <chrono>
#include <cmath>

#include "viridian/base/units_text.hpp"
#include "viridian/data/convert.hpp"
#include "viridian/data/prefetch.hpp"
#include "viridian/train/loop/blame.hpp"
#include "viridian/train/loop/evaluator.hpp"
#include "viridian/train/loop/remaining_time.hpp"
#include "viridian/train/loop/run_state.hpp"
#include "viridian/train/not_finite.hpp"

namespace viridian::train {
namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) {
    return Seconds(std::chrono::duration<double>(Clock::now() - start).count());
}

using Parts = std::vector<data::Batch>;  // a batch, or the micro-batches of a step

class Trainer {
  public:
    Trainer(const Task& task, const RunOptions& options, Listener& listener, const OnStep& on_step,
            const OnEvaluation& on_evaluation)
        : task_(task),
          options_(options),
          listener_(listener),
          on_step_(on_step),
          on_evaluation_(on_evaluation),
          stepper_(task, options),
          evaluator_(task, options, stepper_.step()) {
        run_.stop = options.early_stop;
        if (options.average_decay) run_.averages.emplace(*options.average_decay);
    }

    Result<TrainResult> run() {
        VIRIDIAN_TRY(open());
        VIRIDIAN_TRY(resume());
        const std::int64_t total = options_.epochs * sampler_->steps_per_epoch();
        data::Prefetch<Parts> batches(
            [this, next = run_.position.step, total]() mutable -> Result<std::optional<Parts>> {
                if (next >= total) return std::optional<Parts>();
                VIRIDIAN_TRY(Parts parts, parts_of(*sampler_, *training_, next++, options_.accumulate));
                return std::optional(std::move(parts));
            },
            4);
        result_.stopped_early =
            run_.stop && run_.stop->waited >= run_.stop->patience;  // before it was resumed
        while (run_.position.step < total && !result_.cancelled && !result_.stopped_early) {
            const Clock::time_point start = Clock::now();  // waiting for data is part of a step
            begin_step();
            Result<std::optional<Parts>> parts = batches.next();
            if (!parts.ok()) return kept(parts.error());
            VIRIDIAN_TRY(step(**parts, total, start));
            const Clock::time_point pause = Clock::now();
            const bool epoch_ends = run_.position.step % sampler_->steps_per_epoch() == 0;
            if (epoch_ends) VIRIDIAN_TRY(end_epoch());
            result_.cancelled = result_.cancelled || listener_.cancelled();
            const std::int64_t every = options_.checkpoints ? options_.checkpoints->every : 0;
            if (epoch_ends || result_.cancelled || (every > 0 && run_.position.step % every == 0))
                VIRIDIAN_TRY(save(epoch_ends && !evaluation_is_due()));
            remaining_.pause(since(pause));
            if (epoch_ends) remaining_.end_epoch();
        }
        turn_to(Activity::other);
        VIRIDIAN_TRY(finite_states());
        VIRIDIAN_TRY(leave_weights());
        result_.steps = run_.position.step;
        if (last_saved_ != run_.position.step) result_.checkpoint.reset();
        return std::move(result_);
    }

  private:
    Result<void> open() {
        VIRIDIAN_TRY(sampler_, sampler_of(task_, options_));
        const std::int64_t batch = task_.batch(options_.batch);
        VIRIDIAN_TRY(stepper_.make_ready(batch));
        VIRIDIAN_TRY(training_, data::Batches::make(task_.samples, stepper_.inputs(), options_.batches));
        for (const gradient::Trained& parameter : stepper_.step().parameters) kept_.push_back(parameter.name);
        kept_.insert(kept_.end(), stepper_.step().statistics.begin(), stepper_.step().statistics.end());
        VIRIDIAN_TRY(result_.parameters, stepper_.parameters());
        // All sizes of batches are made ready now, so that what cannot run is known before the first step.
        for (std::int64_t part = 0; part < options_.accumulate; ++part) {
            const data::Draw last = sampler_->draw(sampler_->steps_per_epoch() - 1, part);
            if (!last.samples.empty())
                VIRIDIAN_TRY(stepper_.make_ready(static_cast<std::int64_t>(last.samples.size())));
        }
        VIRIDIAN_TRY(stepper_.make_ready(batch));
        if (task_.evaluation.count() > 0) VIRIDIAN_TRY(evaluator_.open(stepper_.inputs()));
        if (options_.checkpoints) {
            VIRIDIAN_TRY(folder_,
                         CheckpointFolder::open(options_.checkpoints->folder, options_.checkpoints->keep));
        }
        return {};
    }

    // Takes the weights that the run leaves behind, and what they answer to a batch.
    Result<void> leave_weights() {
        const Position& at = run_.position;
        if (options_.keep_best && run_.best) {
            result_.weights = std::move(best_weights_);
            result_.weights_of = {
                .best = true, .step = run_.best->step, .epoch = run_.best->epoch, .score = run_.best->score};
        } else {
            VIRIDIAN_TRY(result_.weights, copied_weights());
            const std::int64_t each = sampler_->steps_per_epoch();
            result_.weights_of = {.step = at.step, .epoch = at.step / each, .between = at.step % each != 0};
        }
        stepper_.rest();  // the memory of the step is not needed any more
        const auto witness = [&]() -> Result<Witness> {
            if (task_.evaluation.count() == 0) VIRIDIAN_TRY(evaluator_.open(stepper_.inputs()));
            return evaluator_.witness(result_.weights);
        };
        if (auto made = witness(); made.ok())
            result_.witness = std::move(made).value();
        else
            listener_.warning(fmt::format(
                "the written model cannot be compared with the run, which goes on: {}", made.error().text()));
        return {};
    }

    void begin_step() {
        if (options_.watch == nullptr) return;
        const std::int64_t each = sampler_->steps_per_epoch();
        stepper_.record(options_.watch->before({.epoch = run_.position.step / each + 1,
                                                .in_epoch = run_.position.step % each,
                                                .steps_in_epoch = each}));
    }

    Result<void> step(const Parts& parts, std::int64_t total, Clock::time_point start) {
        std::int64_t samples = 0;
        for (const data::Batch& part : parts) samples += static_cast<std::int64_t>(part.draw.samples.size());
        const double now = rate_at(options_, *sampler_, run_.position.step);
        VIRIDIAN_TRY(const StepResult made, stepper_.run(parts, now));
        if (!std::isfinite(made.loss)) return not_finite(made.loss, parts);
        ++run_.position.step;
        VIRIDIAN_TRY(const std::vector<NamedTensor> statistics, stepper_.views(stepper_.step().statistics));
        // An infinite variance makes outputs zero, and no loss infinite.
        VIRIDIAN_TRY(check_finite(statistics, run_.position.step, options_));
        if (run_.averages) {
            VIRIDIAN_TRY(const std::vector<NamedTensor> weights, stepper_.views(kept_));
            VIRIDIAN_TRY(run_.averages->update(weights));
        }
        run_.numbers["loss"] += made.loss * static_cast<double>(samples);
        run_.numbers["samples"] += static_cast<double>(samples);
        run_.loss.add(made.loss);
        const Seconds seconds = since(start);
        run_.numbers["seconds"] += seconds.value;
        report({.step = run_.position.step,
                .steps = total,
                .epoch = (run_.position.step - 1) / sampler_->steps_per_epoch() + 1,
                .epochs = options_.epochs,
                .loss = made.loss,
                .average_loss = run_.loss.value(),
                .rate = now,
                .seconds = seconds,
                .samples = samples,
                .gradient_norm = made.gradient_norm,
                .energy = options_.watch == nullptr ? std::nullopt : options_.watch->after(seconds)});
        return {};
    }

    void report(StepRecord record) {
        remaining_.step(record.seconds);
        record.remaining = remaining_.of(record.steps - record.step,
                                         record.epochs - record.epoch + 1);  // pauses after it too
        if (on_step_) on_step_(record);
    }

    // A loss that is no number ends the run: the states may be damaged, so they are not kept.
    Result<void> not_finite(double loss, const Parts& parts) {
        std::optional<Blame> blame =
            blame_data(stepper_.inputs(), parts, options_.step.loss, stepper_.step().labels);
        if (!blame) {
            VIRIDIAN_TRY(const std::vector<NamedTensor> states, stepper_.views());
            if (const std::optional<NotFinite> first = first_not_finite(states)) blame = {first->text(), ""};
            stepper_.rest();
            auto found = blame_tensor(task_, options_, *sampler_, *training_, run_.position.step, listener_);
            if (found.ok() && *found) blame = *found;
        }
        if (!blame) blame = {"all states are finite, so the loss itself overflows", ""};
        return not_finite_error(loss, run_.position.step + 1, *blame, options_);
    }

    // An epoch has ended, and its evaluation has not: it was stopped, or its data could not be read.
    [[nodiscard]] bool evaluation_is_due() const {
        const std::int64_t each = sampler_->steps_per_epoch();
        return run_.position.step % each == 0 && run_.position.epoch < run_.position.step / each;
    }

    // `again`: a run that was stopped before the evaluation goes on with it.
    Result<void> end_epoch(bool again = false) {
        auto& sums = run_.numbers;
        EpochRecord record{.epoch = run_.position.step / sampler_->steps_per_epoch(),
                           .step = run_.position.step,
                           .loss = sums["loss"] / sums["samples"],
                           .seconds = Seconds(sums["seconds"]),
                           .samples = static_cast<std::int64_t>(sums["samples"]),
                           .evaluation = {}};
        stepper_.record(nullptr);  // the recorder is gone after this
        VIRIDIAN_TRY(finite_states());
        if (options_.watch != nullptr && !again) options_.watch->end_epoch();
        if (task_.evaluation.count() > 0) {
            const Result<bool> judged = evaluate(record);
            if (!judged.ok()) return kept(judged.error());
            if (!*judged) {
                result_.cancelled = true;
                return {};
            }
        }
        sums["loss"] = sums["samples"] = sums["seconds"] = 0;
        run_.position.epoch = record.epoch;
        if (record.evaluation && !evaluator_.metrics().empty()) VIRIDIAN_TRY(heed(record));
        result_.epochs.push_back(std::move(record));
        return {};
    }

    void turn_to(Activity activity) {
        if (options_.watch != nullptr) options_.watch->turn_to(activity);
    }

    // Returns false if the evaluation was stopped.
    Result<bool> evaluate(EpochRecord& record) {
        turn_to(Activity::evaluation);
        const Clock::time_point start = Clock::now();
        VIRIDIAN_TRY(const Tensors judged, weights());
        const std::string what = fmt::format("evaluation after epoch {}/{}", record.epoch, options_.epochs);
        VIRIDIAN_TRY(std::optional<Judgement> found, evaluator_.judge(judged, listener_, what));
        if (!found) return false;
        record.evaluation = {.step = record.step,
                             .epoch = record.epoch,
                             .loss = found->loss,
                             .metrics = std::move(found->metrics),
                             .seconds = since(start),
                             .samples = task_.evaluation.count()};
        if (on_evaluation_) on_evaluation_(*record.evaluation);
        return true;
    }

    // Decides whether an evaluation is the best so far, and whether the run ends.
    Result<void> heed(const EpochRecord& record) {
        const Metric& first = evaluator_.metrics()[0];
        const double score = record.evaluation->metrics.at(first.name());
        if (run_.stop) result_.stopped_early = run_.stop->update(score);
        const bool better =
            !run_.best || (first.lower_is_better() ? score < run_.best->score : score > run_.best->score);
        if (std::isnan(score) || !better) return {};
        run_.best = {.score = score, .epoch = record.epoch, .step = run_.position.step};
        if (options_.keep_best) {
            VIRIDIAN_TRY(best_weights_, copied_weights());
        }
        return {};
    }

    // The first metric decides which checkpoint is the best, and when the run stops early.
    [[nodiscard]] std::optional<double> score_of(const EpochRecord& record) const {
        if (!record.evaluation || evaluator_.metrics().empty()) return std::nullopt;
        return record.evaluation->metrics.at(evaluator_.metrics()[0].name());
    }

    // Returns the parameters and statistics, or their averages if the run keeps some, until the next step.
    Result<Tensors> weights() {
        Tensors all;
        VIRIDIAN_TRY(std::vector<NamedTensor> states, stepper_.views(kept_));
        for (NamedTensor& state : states) all[state.name] = std::move(state.tensor);
        if (!run_.averages || run_.averages->updates() == 0) return all;
        for (const NamedTensor& average : run_.averages->averages()) {
            graph::Tensor& weight = all.at(average.name);
            VIRIDIAN_TRY(weight, data::convert(average.tensor, weight.type(), {}, average.name));
        }
        return all;
    }

    Result<Tensors> copied_weights() {
        VIRIDIAN_TRY(Tensors all, weights());
        for (auto& [name, weight] : all) static_cast<void>(weight.mutable_bytes());
        return all;
    }

    // Returns the states where they lie: valid until the next step. Errors: malformed if one of them is no
    // finite number, so that it is never kept.
    Result<Tensors> finite_states() {
        VIRIDIAN_TRY(std::vector<NamedTensor> all, stepper_.views());
        VIRIDIAN_TRY(check_finite(all, run_.position.step, options_));
        Tensors states;
        for (NamedTensor& state : all) states[state.name] = std::move(state.tensor);
        return states;
    }

    // Returns `error` after a checkpoint, because what was trained must not be lost with it.
    Error kept(Error error) {
        if (!folder_ || run_.position.step == 0 || !save(false).ok() || last_saved_ != run_.position.step)
            return error;
        error.next_step += fmt::format("; {} are kept, and --resume --changed-data goes on from there",
                                       counted(run_.position.step, "step"));
        return error;
    }

    // A disk that is full now may have room at the next checkpoint, so the run goes on.
    Result<void> saved_or_warned(Result<Path> written) {
        if (written.ok()) {
            last_saved_ = run_.position.step;
            unsaved_ = false;
            result_.checkpoint = *written;
            return {};
        }
        const Error& error = written.error();
        if (error.code != ErrorCode::disk_full && error.code != ErrorCode::file_not_writable) return error;
        if (!std::exchange(unsaved_, true))
            listener_.warning(fmt::format("step {} has no checkpoint, and the run goes on: {}",
                                          run_.position.step, error.text()));
        return {};
    }

    // `judged`: the last evaluation was of these states, so its score belongs to them.
    Result<void> save(bool judged) {
        if (!folder_) return {};
        turn_to(Activity::checkpoint);
        VIRIDIAN_TRY(const Tensors states, finite_states());
        run_.position.seed = options_.seed;
        run_.position.sample = static_cast<std::int64_t>(run_.numbers["samples"]);
        Checkpoint checkpoint = checkpoint_of(run_, stepper_.states_about(), states);
        checkpoint.model = stepper_.model_hash();
        checkpoint.options = options_.written;
        checkpoint.data = options_.checkpoints->data;
        if (judged && !result_.epochs.empty()) checkpoint.score = score_of(result_.epochs.back());
        return saved_or_warned(folder_->save(checkpoint));
    }

    Result<void> resume() {
        if (!options_.checkpoints || !options_.checkpoints->resume) return {};
        if (checkpoints_in(options_.checkpoints->folder).empty()) return {};
        VIRIDIAN_TRY(FoundCheckpoint found, newest_checkpoint(options_.checkpoints->folder));
        for (const std::string& note : found.notes) listener_.warning(note);
        const std::string file = found.path.string();
        VIRIDIAN_TRY(check_resumable(found.checkpoint, found.path, stepper_.model_hash(), options_.written));
        VIRIDIAN_TRY(check_same_samples(found.checkpoint.data, options_.checkpoints->data, file,
                                        options_.checkpoints->changed_data));
        VIRIDIAN_TRY(const Tensors states,
                     restored(std::move(found.checkpoint), found.path, stepper_.states_about(), kept_, run_));
        if (run_.position.step > options_.epochs * sampler_->steps_per_epoch())
            return fail(ErrorCode::mismatch, "give --epochs as many or more, or start a new run",
                        "the run of `{}` has finished {}, which are more than {}", file,
                        counted(run_.position.step, "step"), counted(options_.epochs, "epoch"));
        VIRIDIAN_TRY(stepper_.set_states(states));
        result_.resumed_from = result_.checkpoint = found.path;
        last_saved_ = run_.position.step;
        find_best_weights();
        if (!evaluation_is_due()) return {};
        VIRIDIAN_TRY(end_epoch(true));
        return evaluation_is_due() ? Result<void>() : save(true);
    }

    // The weights of the best evaluation before the run was resumed.
    void find_best_weights() {
        if (!options_.keep_best || !run_.best) return;
        const Path file = checkpoint_path(options_.checkpoints->folder, run_.best->step);
        auto weights = judged_weights(file, kept_);
        if (weights.ok()) return static_cast<void>(best_weights_ = std::move(weights).value());
        listener_.warning(
            fmt::format("the best weights so far, those after epoch {}, are lost, and the best "
                        "of the evaluations from here on are kept: {}",
                        run_.best->epoch, weights.error().text()));
        run_.best.reset();
    }

    const Task& task_;
    const RunOptions& options_;
    Listener& listener_;
    const OnStep& on_step_;
    const OnEvaluation& on_evaluation_;

    Stepper stepper_;
    std::vector<std::string> kept_;  // names of trained parameters and statistics
    Evaluator evaluator_;
    std::optional<data::Sampler> sampler_;
    std::optional<data::Batches> training_;
    std::optional<CheckpointFolder> folder_;

    RunState run_;
    Tensors best_weights_;         // of the best evaluation, with RunOptions::keep_best
    std::int64_t last_saved_ = 0;  // the step of the newest checkpoint
    bool unsaved_ = false;         // one could not be written since
    RemainingTime remaining_;
    TrainResult result_;
};

}  // namespace

Result<TrainResult> train(const Task& task, const RunOptions& options, Listener& listener,
                          const OnStep& on_step, const OnEvaluation& on_evaluation) {
    return Trainer(task, options, listener, on_step, on_evaluation).run();
}

}  // namespace viridian::train
