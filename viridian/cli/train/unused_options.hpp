#pragma once
// Refuses options that were typed and would do nothing: with another loss or optimiser, without an
// evaluation, or with another kind of data. Each is a row of a table in unused_options.cpp.
#include "viridian/cli/train/train_options.hpp"
#include "viridian/train/loop/train.hpp"

namespace viridian::cli {

// Each returns invalid_argument if an option would do nothing, with what it belongs to.
// Of `gradient` and `train`: `step` holds the loss and the optimiser that `choice` names.
[[nodiscard]] Result<void> check_step_options_used(const StepChoice& choice,
                                                   const gradient::StepOptions& step);
// Of `train`, before its samples are opened.
[[nodiscard]] Result<void> check_train_options_used(const TrainOptions& options);
// Of `train`, when the samples are open.
[[nodiscard]] Result<void> check_data_options_used(const TrainOptions& options, const train::Task& task);

}  // namespace viridian::cli
