#pragma once
// Writes the line of progress of a training run.
#include "viridian/train/log/step_record.hpp"

namespace viridian::train {

// Returns "step 120/5000, epoch 1/10, loss 0.4312, rate 0.00029, 812 samples/s, 61.2 W and 2.41 J
// [2.33 J, 2.49 J] a step (measured:powercap), 4 min 12 s left". What is not known is left out.
[[nodiscard]] std::string progress_line(const StepRecord& record);

// Returns a duration as text: "12 s", "4 min 12 s", "3 h 5 min", "2 days 4 h".
[[nodiscard]] std::string duration_text(Seconds seconds);

}  // namespace viridian::train
