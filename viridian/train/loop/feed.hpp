#pragma once
// Puts together what a training step reads: the tensors of the data, and the numbers that the loop gives.
#include <map>
#include <string>
#include <vector>

#include "viridian/train/loop/train.hpp"

namespace viridian::train {

using Tensors = std::map<std::string, graph::Tensor>;  // by the name of the input or state

// Returns which samples each step of a run reads. Errors: mismatch (fewer samples than a batch of a network
// whose batch is fixed), those of Sampler::make.
[[nodiscard]] Result<data::Sampler> sampler_of(const Task& task, const RunOptions& options);

// Returns the batches of a step in order: one, or its micro-batches. Errors: those of reading data.
[[nodiscard]] Result<std::vector<data::Batch>> parts_of(const data::Sampler& sampler,
                                                        const data::Batches& batches, std::int64_t step,
                                                        std::int64_t parts);

// Returns the tensors of a batch under the names of their inputs.
[[nodiscard]] Tensors named(const std::vector<data::ModelInput>& inputs, std::vector<graph::Tensor> tensors);

// Returns the learning rate of a step of the run, counted from 0.
[[nodiscard]] double rate_at(const RunOptions& options, const data::Sampler& sampler, std::int64_t step);

// StepNumbers are the numbers that a training step reads beside its data.
struct StepNumbers {
    double rate = 0;
    std::uint64_t seed = 0;
    std::int64_t first_sample = 0;  // the number of the (micro-)batch's first sample
    double inverse_count = 0;       // of a step that accumulates (gradient::inverse_count_input)
};

// Adds the inputs that `step` has for itself.
void add_step_inputs(const graph::Graph& step, const StepNumbers& numbers, Tensors& inputs);

}  // namespace viridian::train
