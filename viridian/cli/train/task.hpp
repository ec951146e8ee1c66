#pragma once
// Makes the task of a training run from the options: the network as it begins, and the samples.
#include <memory>

#include "viridian/cli/train/train_options.hpp"
#include "viridian/train/loop/train.hpp"
#include "viridian/train/weights/head.hpp"

namespace viridian::cli {

// A Start says how the network differs from the model's file before the first step.
struct Start {
    std::vector<std::string> head = {};               // parameters of a new last layer
    std::map<std::string, graph::Tensor> drawn = {};  // weights that are drawn anew
};

// Gives the model that was read its new head, if one is asked for, and the weights of `start`. Errors: those
// of replace_head() and set_weights().
[[nodiscard]] Result<train::NewHead> begun(const TrainOptions& options, graph::Graph model,
                                           const Start& start);

// Opens the samples, and says how the network is read and made ready. The task reads `start` whenever it
// makes the network, and tells `listener`, which must outlive it, of the kernels that --tune measures. Sets
// options.model.batch if it is not given. Errors: those of data::open and of reading
// the model; mismatch (a --batch that the model does not take; an evaluation file whose classes are not those
// of training).
[[nodiscard]] Result<train::Task> task_of(TrainOptions& options, std::shared_ptr<const Start> start,
                                          Listener& listener);

// Says how the run trains, evaluates, and begins: fills `start`. `listener` hears which weights could not be
// drawn. Errors: invalid_argument (options that do not fit together), those of batch_options(),
// training_step() and redraw().
[[nodiscard]] Result<train::RunOptions> run_options(const TrainOptions& options, const train::Task& task,
                                                    Start& start, Listener& listener);

}  // namespace viridian::cli
