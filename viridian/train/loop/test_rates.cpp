#include <chrono>
#include <cmath>

#include "viridian/train/loop/feed.hpp"
#include "viridian/train/loop/runner.hpp"

namespace viridian::train {

Result<std::vector<RateTrial>> test_rates(const Task& task, const RunOptions& options, const RateRange& range,
                                          Listener& listener, const OnStep& on_step) {
    Task whole = task;  // batches of one size
    whole.fixed_batch = true;
    RunOptions sized = options;
    sized.batch = task.batch(options.batch);
    sized.accumulate = 1;
    VIRIDIAN_TRY(const data::Sampler sampler, sampler_of(whole, sized));
    VIRIDIAN_TRY(const graph::Graph forward, task.network(sized.batch));
    VIRIDIAN_TRY(gradient::Step step, gradient::training_step(forward, options.step));
    VIRIDIAN_TRY(Ready ready, task.prepare(std::move(step.graph)));
    VIRIDIAN_TRY(Runner runner, Runner::make(std::move(ready)));
    const std::vector<data::ModelInput> inputs = data_inputs(runner.graph());
    VIRIDIAN_TRY(const data::Batches batches, data::Batches::make(task.samples, inputs, options.batches));
    std::vector<RateTrial> trials;
    for (std::int64_t i = 0; i < range.steps && !has_diverged(trials) && !listener.cancelled(); ++i) {
        const auto start = std::chrono::steady_clock::now();
        VIRIDIAN_TRY(data::Batch batch, batches.batch(sampler.whole(i)));
        const std::int64_t first = batch.draw.first;
        Tensors given = named(inputs, std::move(batch.inputs));
        const double rate = trial_rate(range, i);
        add_step_inputs(runner.graph(), {.rate = rate, .seed = options.seed, .first_sample = first}, given);
        VIRIDIAN_TRY(const std::vector<graph::Tensor>* const outputs, runner.run(given));
        trials.push_back({rate, (*outputs)[0].number(0)});
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (on_step)
            on_step({.step = i + 1,
                     .steps = range.steps,
                     .loss = trials.back().loss,
                     .rate = rate,
                     .seconds = Seconds(took.count()),
                     .samples = sized.batch});
    }
    return trials;
}

}  // namespace viridian::train
