#pragma once
// Says why the loss of a training step is not finite: which sample holds such a number, that no label counts,
// or which tensor of the forward part is the first to hold one.
#include "viridian/train/loop/feed.hpp"

namespace viridian::train {

// A Blame is the reason, as the second half of a sentence, and what helps now.
struct Blame {
    std::string what;       // "the input `images` holds nan at element 12 of sample 5"
    std::string next_step;  // empty: what helps against divergence
};

// Returns what is wrong with the batches of a step themselves; nothing if they are as they should be.
// `inputs` are those of the batches, and `labels` names the one that the loss reads.
[[nodiscard]] std::optional<Blame> blame_data(const std::vector<data::ModelInput>& inputs,
                                              const std::vector<data::Batch>& parts,
                                              const gradient::LossOptions& loss, const std::string& labels);

// Trains again from the newest checkpoint, or from the first weights, up to step `bad`, whose loss was not
// finite, and looks at every tensor of its forward part. Returns nothing if that takes longer than a minute,
// if the listener cancels, or if all tensors are finite this time. Errors: those of train().
[[nodiscard]] Result<std::optional<Blame>> blame_tensor(const Task& task, const RunOptions& options,
                                                        const data::Sampler& sampler,
                                                        const data::Batches& batches, std::int64_t bad,
                                                        Listener& listener);

// Returns the error of a training step whose loss is not finite. Its next step is what helps a run that
// diverged, settings and the newest checkpoint, unless the blame says what does.
[[nodiscard]] Error not_finite_error(double loss, std::int64_t step, const Blame& blame,
                                     const RunOptions& options);

// Errors: malformed if one of the states after `step` is no finite number.
[[nodiscard]] Result<void> check_finite(std::span<const NamedTensor> states, std::int64_t step,
                                        const RunOptions& options);

}  // namespace viridian::train
