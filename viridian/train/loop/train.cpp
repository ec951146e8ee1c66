#include "viridian/train/loop/train.hpp"

#include <chrono>
#include <cmath>

#include "viridian/base/units_text.hpp"
#include "viridian/data/convert.hpp"
#include "viridian/data/prefetch.hpp"
#include "viridian/train/loop/blame.hpp"
#include "viridian/train/loop/evaluator.hpp"
#include "viridian/train/loop/remaining_time.hpp"
#include "viridian/train/loop/stepper.hpp"
#include "viridian/train/not_finite.hpp"
#include "viridian/train/weights/moving_average.hpp"

namespace viridian::train {
namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) {
    return Seconds(std::chrono::duration<double>(Clock::now() - start).count());
}

constexpr std::string_view average_ending = ".average";  // of the name of a moving average in a checkpoint

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
          evaluator_(task, options, stepper_.step()),
          stop_(options.early_stop) {
        if (options.average_decay) averages_.emplace(*options.average_decay);
    }

    Result<TrainResult> run() {
        VIRIDIAN_TRY(open());
        VIRIDIAN_TRY(resume());
        const std::int64_t total = options_.epochs * sampler_->steps_per_epoch();
        data::Prefetch<Parts> batches(
            [this, next = position_.step, total]() mutable -> Result<std::optional<Parts>> {
                if (next >= total) return std::optional<Parts>();
                VIRIDIAN_TRY(Parts parts, parts_of(*sampler_, *training_, next++, options_.accumulate));
                return std::optional(std::move(parts));
            },
            4);
        result_.stopped_early = stop_ && stop_->waited >= stop_->patience;  // before it was resumed
        while (position_.step < total && !result_.cancelled && !result_.stopped_early) {
            const Clock::time_point start = Clock::now();  // waiting for data is part of a step
            begin_step();
            Result<std::optional<Parts>> parts = batches.next();
            if (!parts.ok()) return kept(parts.error());
            VIRIDIAN_TRY(step(std::move(**parts), total, start));
            const Clock::time_point pause = Clock::now();
            const bool epoch_ends = position_.step % sampler_->steps_per_epoch() == 0;
            if (epoch_ends) VIRIDIAN_TRY(end_epoch());
            result_.cancelled = listener_.cancelled();
            const std::int64_t every = options_.checkpoints ? options_.checkpoints->every : 0;
            if (epoch_ends || result_.cancelled || (every > 0 && position_.step % every == 0))
                VIRIDIAN_TRY(save(epoch_ends));
            remaining_.pause(since(pause));
            if (epoch_ends) remaining_.end_epoch();
        }
        turn_to(Activity::other);
        VIRIDIAN_TRY(finite_states());
        VIRIDIAN_TRY(result_.weights, weights());
        for (auto& [name, weight] : result_.weights)
            static_cast<void>(weight.mutable_bytes());  // a copy, for states go with the run
        result_.steps = position_.step;
        if (last_saved_ != position_.step) result_.checkpoint.reset();
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

    void begin_step() {
        if (options_.watch == nullptr) return;
        const std::int64_t each = sampler_->steps_per_epoch();
        stepper_.record(options_.watch->before(
            {.epoch = position_.step / each + 1, .in_epoch = position_.step % each, .steps_in_epoch = each}));
    }

    Result<void> step(Parts parts, std::int64_t total, Clock::time_point start) {
        std::int64_t samples = 0;
        for (const data::Batch& part : parts) samples += static_cast<std::int64_t>(part.draw.samples.size());
        const double now = rate_at(options_, *sampler_, position_.step);
        VIRIDIAN_TRY(const StepResult made, stepper_.run(parts, now));
        if (!std::isfinite(made.loss)) return not_finite(made.loss, parts);
        ++position_.step;
        VIRIDIAN_TRY(const std::vector<NamedTensor> statistics, stepper_.views(stepper_.step().statistics));
        VIRIDIAN_TRY(
            check_finite(statistics));  // an infinite variance makes outputs zero, and no loss infinite
        if (averages_) {
            VIRIDIAN_TRY(const std::vector<NamedTensor> weights, stepper_.views(kept_));
            VIRIDIAN_TRY(averages_->update(weights));
        }
        numbers_["loss"] += made.loss * static_cast<double>(samples);
        numbers_["samples"] += static_cast<double>(samples);
        average_.add(made.loss);
        const Seconds seconds = since(start);
        numbers_["seconds"] += seconds.value;
        report({.step = position_.step,
                .steps = total,
                .epoch = (position_.step - 1) / sampler_->steps_per_epoch() + 1,
                .epochs = options_.epochs,
                .loss = made.loss,
                .average_loss = average_.value(),
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

    // What helps a run that diverged.
    [[nodiscard]] std::string advice() const {
        const std::vector<Path> kept =
            options_.checkpoints ? checkpoints_in(options_.checkpoints->folder) : std::vector<Path>();
        return kept.empty()
                   ? std::string("choose a smaller --rate, or --clip 1")
                   : fmt::format("choose a smaller --rate or --clip 1; the last good checkpoint is {}",
                                 kept[0].string());
    }

    Result<void> check_finite(std::span<const NamedTensor> states) const {
        const std::optional<NotFinite> found = first_not_finite(states);
        if (!found) return {};
        return fail(ErrorCode::malformed, advice(), "after step {} {}", position_.step, found->text());
    }

    // A loss that is no number ends the run: the states may be damaged, so they are not kept.
    Result<void> not_finite(double loss, const Parts& parts) {
        std::optional<Blame> blame =
            blame_data(stepper_.inputs(), parts, options_.step.loss, stepper_.step().labels);
        if (!blame) {
            VIRIDIAN_TRY(const std::vector<NamedTensor> states, stepper_.views());
            if (const std::optional<NotFinite> first = first_not_finite(states)) blame = {first->text(), ""};
            stepper_.rest();
            auto found = blame_tensor(task_, options_, *sampler_, *training_, position_.step, listener_);
            if (found.ok() && *found) blame = *found;
        }
        if (!blame) blame = {"all states are finite, so the loss itself overflows", ""};
        return fail(ErrorCode::malformed, blame->next_step.empty() ? advice() : blame->next_step,
                    "the loss is {} in step {}: {}",
                    std::isnan(loss) ? "nan"
                    : loss > 0       ? "inf"
                                     : "-inf",
                    position_.step + 1, blame->what);
    }

    Result<void> end_epoch() {
        EpochRecord record{.epoch = position_.step / sampler_->steps_per_epoch(),
                           .step = position_.step,
                           .loss = numbers_["loss"] / numbers_["samples"],
                           .seconds = Seconds(numbers_["seconds"]),
                           .samples = static_cast<std::int64_t>(numbers_["samples"]),
                           .evaluation = {}};
        stepper_.record(nullptr);  // the recorder is gone after this
        VIRIDIAN_TRY(finite_states());
        if (options_.watch != nullptr) options_.watch->end_epoch();
        numbers_["loss"] = numbers_["samples"] = numbers_["seconds"] = 0;
        position_.epoch = record.epoch;
        if (task_.evaluation.count() > 0)
            if (auto judged = evaluate(record); !judged.ok()) return kept(judged.error());
        if (const std::optional<double> score = score_of(record); stop_ && score)
            result_.stopped_early = stop_->update(*score);
        result_.epochs.push_back(std::move(record));
        return {};
    }

    void turn_to(Activity activity) {
        if (options_.watch != nullptr) options_.watch->turn_to(activity);
    }

    Result<void> evaluate(EpochRecord& record) {
        turn_to(Activity::evaluation);
        const Clock::time_point start = Clock::now();
        VIRIDIAN_TRY(const Tensors judged, weights());
        const std::string what = fmt::format("evaluation after epoch {}/{}", record.epoch, options_.epochs);
        VIRIDIAN_TRY(Judgement found, evaluator_.judge(judged, listener_, what));
        record.evaluation = {.step = record.step,
                             .epoch = record.epoch,
                             .loss = found.loss,
                             .metrics = std::move(found.metrics),
                             .seconds = since(start),
                             .samples = task_.evaluation.count()};
        if (on_evaluation_) on_evaluation_(*record.evaluation);
        return {};
    }

    // The first metric decides which checkpoint is the best, and when the run stops early.
    [[nodiscard]] std::optional<double> score_of(const EpochRecord& record) const {
        if (!record.evaluation || evaluator_.metrics().empty()) return std::nullopt;
        return record.evaluation->metrics.at(evaluator_.metrics()[0].name());
    }

    // Returns the parameters and statistics that the run stands for: their averages, if it keeps some. They
    // are valid until the next step.
    Result<Tensors> weights() {
        Tensors all;
        VIRIDIAN_TRY(std::vector<NamedTensor> states, stepper_.views(kept_));
        for (NamedTensor& state : states) all[state.name] = std::move(state.tensor);
        if (!averages_ || averages_->updates() == 0) return all;
        for (const NamedTensor& average : averages_->averages()) {
            graph::Tensor& weight = all.at(average.name);
            VIRIDIAN_TRY(weight, data::convert(average.tensor, weight.type(), {}, average.name));
        }
        return all;
    }

    // Returns the states where they lie: valid until the next step. Errors: malformed if one of them is no
    // finite number, so that it is never kept.
    Result<Tensors> finite_states() {
        VIRIDIAN_TRY(std::vector<NamedTensor> all, stepper_.views());
        VIRIDIAN_TRY(check_finite(all));
        Tensors states;
        for (NamedTensor& state : all) states[state.name] = std::move(state.tensor);
        return states;
    }

    // Returns `error` after a checkpoint, because what was trained must not be lost with it.
    Error kept(Error error) {
        if (!folder_ || position_.step == 0 || !save(false).ok() || last_saved_ != position_.step)
            return error;
        error.next_step +=
            fmt::format("; {} are kept, and --resume goes on from there", counted(position_.step, "step"));
        return error;
    }

    // A disk that is full now may have room at the next checkpoint, so the run goes on.
    Result<void> saved_or_warned(Result<Path> written) {
        if (written.ok()) {
            last_saved_ = position_.step;
            unsaved_ = false;
            result_.checkpoint = *written;
            return {};
        }
        const Error& error = written.error();
        if (error.code != ErrorCode::disk_full && error.code != ErrorCode::file_not_writable) return error;
        if (!std::exchange(unsaved_, true))
            listener_.warning(fmt::format("step {} has no checkpoint, and the run goes on: {}",
                                          position_.step, error.text()));
        return {};
    }

    // `judged`: the last evaluation was of these states, so its score belongs to them.
    Result<void> save(bool judged) {
        if (!folder_) return {};
        turn_to(Activity::checkpoint);
        Checkpoint checkpoint;
        VIRIDIAN_TRY(const Tensors states, finite_states());
        for (const StateAbout& state : stepper_.states_about())
            checkpoint.states.push_back({.name = state.name,
                                         .role = std::string(name_of(state.role)),
                                         .of = state.of,
                                         .tensor = states.at(state.name)});
        if (averages_)
            for (const NamedTensor& average : averages_->averages())
                checkpoint.states.push_back({.name = average.name + std::string(average_ending),
                                             .role = "average",
                                             .of = average.name,
                                             .tensor = average.tensor});
        checkpoint.position = position_;
        checkpoint.position.seed = options_.seed;
        checkpoint.position.sample = static_cast<std::int64_t>(numbers_["samples"]);
        checkpoint.model = stepper_.model_hash();
        checkpoint.options = options_.written;
        checkpoint.numbers = numbers_;
        checkpoint.numbers["average.sum"] = average_.sum;
        checkpoint.numbers["average.weight"] = average_.weight;
        if (averages_) checkpoint.numbers["weights.updates"] = static_cast<double>(averages_->updates());
        if (stop_) {
            checkpoint.numbers["stop.waited"] = stop_->waited;
            if (!std::isnan(stop_->best)) checkpoint.numbers["stop.best"] = stop_->best;
        }
        if (judged && !result_.epochs.empty()) checkpoint.score = score_of(result_.epochs.back());
        return saved_or_warned(folder_->save(checkpoint));
    }

    Result<void> resume() {
        if (!options_.checkpoints || !options_.checkpoints->resume) return {};
        if (checkpoints_in(options_.checkpoints->folder).empty()) return {};
        VIRIDIAN_TRY(FoundCheckpoint found, newest_checkpoint(options_.checkpoints->folder));
        for (const std::string& note : found.notes) listener_.warning(note);
        VIRIDIAN_TRY(check_resumable(found.checkpoint, found.path, stepper_.model_hash(), options_.written));
        Tensors states;
        for (SavedState& state : found.checkpoint.states) states[state.name] = std::move(state.tensor);
        std::vector<std::string> needed;
        for (const StateAbout& state : stepper_.states_about()) needed.push_back(state.name);
        if (averages_)
            for (const std::string& name : kept_) needed.push_back(name + std::string(average_ending));
        for (const std::string& name : needed)
            if (!states.contains(name))
                return fail(ErrorCode::mismatch, "resume with the options of the run that wrote it",
                            "{} has no state `{}`", found.path.string(), name);
        VIRIDIAN_TRY(stepper_.set_states(states));
        position_ = found.checkpoint.position;
        numbers_ = found.checkpoint.numbers;
        average_.sum = numbers_["average.sum"];
        average_.weight = numbers_["average.weight"];
        if (averages_) {
            std::vector<NamedTensor> averages;
            for (const std::string& name : kept_)
                averages.push_back({name, states.at(name + std::string(average_ending))});
            averages_->restore(std::move(averages), static_cast<std::int64_t>(numbers_["weights.updates"]));
        }
        if (stop_) {
            stop_->waited = static_cast<int>(numbers_["stop.waited"]);
            if (const auto best = numbers_.find("stop.best"); best != numbers_.end())
                stop_->best = best->second;
        }
        result_.resumed_from = result_.checkpoint = found.path;
        last_saved_ = position_.step;
        return {};
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
    std::optional<MovingAverage> averages_;
    std::optional<EarlyStop> stop_;
    std::optional<CheckpointFolder> folder_;

    Position position_;
    std::int64_t last_saved_ = 0;            // the step of the newest checkpoint
    bool unsaved_ = false;                   // one could not be written since
    std::map<std::string, double> numbers_;  // sums of the epoch under way
    LossAverage average_;
    RemainingTime remaining_;
    TrainResult result_;
};

}  // namespace

Result<TrainResult> train(const Task& task, const RunOptions& options, Listener& listener,
                          const OnStep& on_step, const OnEvaluation& on_evaluation) {
    return Trainer(task, options, listener, on_step, on_evaluation).run();
}

}  // namespace viridian::train
