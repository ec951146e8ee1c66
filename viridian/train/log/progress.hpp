#pragma once
// Writes the line of progress of a training run.
#include "viridian/train/log/step_record.hpp"

namespace viridian::train {

// Returns "step 120/5000, 4 min 12 s left, loss 0.4312, 2.41 J/step measured, 2.33 J to 2.49 J, 61.2 W,
// 812 samples/s, epoch 1/10, rate 0.00029, gradient norm 1.25". What is not known is left out. A terminal
// that is too narrow shows the first parts.
[[nodiscard]] std::string progress_line(const StepRecord& record);

// Returns a duration as text: "12 s", "4 min 12 s", "3 h 5 min", "2 days 4 h".
[[nodiscard]] std::string duration_text(Seconds seconds);

}  // namespace viridian::train
