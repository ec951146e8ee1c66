#pragma once
// A RunState is what a run remembers beside the states of the training step: how far it is, the sums of the
// epoch under way, averages, and what an early stop waits for. Checkpoints hold it.
#include "viridian/train/checkpoint/checkpoint.hpp"
#include "viridian/train/early_stop.hpp"
#include "viridian/train/log/step_record.hpp"
#include "viridian/train/loop/stepper.hpp"
#include "viridian/train/weights/moving_average.hpp"

namespace viridian::train {

// A BestEvaluation is the one with the best first metric so far.
struct BestEvaluation {
    double score = 0;
    std::int64_t epoch = 0, step = 0;  // after which it was
};

struct RunState {
    Position position = {};
    std::map<std::string, double> numbers = {};  // sums of the epoch under way: loss, samples, seconds
    LossAverage loss = {};
    std::optional<MovingAverage> averages = {};  // of weights and statistics
    std::optional<EarlyStop> stop = {};
    std::optional<BestEvaluation> best = {};
};

// Puts the states of the step, which `about` lists, and `run` into a checkpoint. Its model, options, samples
// and score are left to the caller.
[[nodiscard]] Checkpoint checkpoint_of(const RunState& run, const std::vector<StateAbout>& about,
                                       const Tensors& states);

// Restores `run` from a checkpoint that was read from `file` and returns the states of the step. `weights`
// are the parameters and statistics that have averages. Errors: mismatch (a state is missing).
[[nodiscard]] Result<Tensors> restored(Checkpoint saved, const Path& file,
                                       const std::vector<StateAbout>& about,
                                       const std::vector<std::string>& weights, RunState& run);

// Reads the weights that an evaluation of this checkpoint judged: the averages if it has some. `names` are
// the trained parameters and statistics. Errors: those of read_checkpoint(); mismatch (one is missing).
[[nodiscard]] Result<Tensors> judged_weights(const Path& file, const std::vector<std::string>& names);

}  // namespace viridian::train
