#include "viridian/train/loop/feed.hpp"

#include "viridian/gradient/scalar.hpp"

namespace viridian::train {

std::vector<data::ModelInput> data_inputs(const graph::Graph& step) {
    std::vector<data::ModelInput> inputs;
    for (const graph::ValueId id : step.inputs()) {
        const graph::Value& value = step.value(id);
        if (!value.name.starts_with("viridian.")) inputs.push_back({value.name, value.type});
    }
    return inputs;
}

Result<data::Sampler> sampler_of(const Task& task, const RunOptions& options) {
    const std::int64_t batch = task.batch(options.batch);
    const data::SamplerOptions sampling{.from = task.training,
                                        .batch = batch * options.accumulate,
                                        .micro_batches = options.accumulate,
                                        .seed = options.seed,
                                        .shuffle = options.shuffle,
                                        .drop_last = task.fixed_batch};
    if (task.fixed_batch && task.training.count() < sampling.batch)
        return fail(ErrorCode::mismatch,
                    options.accumulate > 1 ? "give more samples, or a smaller --accumulate"
                                           : "give more samples, or export the model with a free batch",
                    "the network takes batches of {}{} and there are {} samples to train on", batch,
                    options.accumulate > 1 ? fmt::format(", a step {} of them,", options.accumulate) : "",
                    task.training.count());
    return data::Sampler::make(sampling);
}

Result<std::vector<data::Batch>> parts_of(const data::Sampler& sampler, const data::Batches& batches,
                                          std::int64_t step, std::int64_t parts) {
    std::vector<data::Batch> all;
    for (std::int64_t part = 0; part < parts; ++part) {
        data::Draw draw = sampler.draw(step, part);
        if (draw.samples.empty()) continue;
        VIRIDIAN_TRY(all.emplace_back(), batches.batch(std::move(draw)));
    }
    return all;
}

double rate_at(const RunOptions& options, const data::Sampler& sampler, std::int64_t step) {
    const RunLength length{options.epochs * sampler.steps_per_epoch(), sampler.steps_per_epoch()};
    return options.rate * options.schedule.factor(step, length);
}

Tensors named(const std::vector<data::ModelInput>& inputs, std::vector<graph::Tensor> tensors) {
    Tensors all;
    for (std::size_t i = 0; i < inputs.size(); ++i) all[inputs[i].name] = std::move(tensors[i]);
    return all;
}

void add_step_inputs(const graph::Graph& step, const StepNumbers& numbers, Tensors& inputs) {
    for (const graph::ValueId id : step.inputs()) {
        const graph::Value& value = step.value(id);
        const graph::ElementType type = value.type.element;
        if (value.name == gradient::rate_input) inputs[value.name] = gradient::scalar_of(type, numbers.rate);
        if (value.name == gradient::inverse_count_input)
            inputs[value.name] = gradient::scalar_of(type, numbers.inverse_count);
        if (value.name == gradient::first_sample_input)
            inputs[value.name] = graph::Tensor::scalar(numbers.first_sample);
        if (value.name == gradient::seed_input)
            inputs[value.name] = graph::Tensor::scalar(static_cast<std::int64_t>(numbers.seed));
    }
}

}  // namespace viridian::train
