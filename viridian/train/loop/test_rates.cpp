#include <chrono>

#include "viridian/train/loop/stepper.hpp"

namespace viridian::train {

Result<std::vector<RateTrial>> test_rates(const Task& task, const RunOptions& options, const RateRange& range,
                                          Listener& listener, const OnStep& on_step) {
    Task whole = task;  // batches of one size
    whole.fixed_batch = true;
    RunOptions sized = options;
    sized.batch = task.batch(options.batch);
    VIRIDIAN_TRY(const data::Sampler sampler, sampler_of(whole, sized));
    Stepper stepper(task, sized);
    VIRIDIAN_TRY(stepper.make_ready(sized.batch));
    VIRIDIAN_TRY(const data::Batches batches,
                 data::Batches::make(task.samples, stepper.inputs(), options.batches));
    std::vector<RateTrial> trials;
    for (std::int64_t i = 0; i < range.steps && !has_diverged(trials) && !listener.cancelled(); ++i) {
        const auto start = std::chrono::steady_clock::now();
        VIRIDIAN_TRY(std::vector<data::Batch> parts, parts_of(sampler, batches, i, sized.accumulate));
        const double rate = trial_rate(range, i);
        VIRIDIAN_TRY(const StepResult made, stepper.run(std::move(parts), rate));
        trials.push_back({rate, made.loss});
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (on_step)
            on_step({.step = i + 1,
                     .steps = range.steps,
                     .loss = made.loss,
                     .rate = rate,
                     .seconds = Seconds(took.count()),
                     .samples = sized.batch * sized.accumulate});
    }
    return trials;
}

}  // namespace viridian::train
