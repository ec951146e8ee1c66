#pragma once
// A Watch looks at a training run from outside while it runs: it meters the steps and what happens between
// them, and has the kernels of some steps recorded.
#include <optional>

#include "viridian/base/energy.hpp"
#include "viridian/trace/record/recorder.hpp"

namespace viridian::train {

// A StepPlace says where in its epoch a step is.
struct StepPlace {
    std::int64_t epoch = 0;           // from 1
    std::int64_t in_epoch = 0;        // the number of the step within its epoch, from 0
    std::int64_t steps_in_epoch = 0;  // of a whole epoch
};

// An Activity is what a run does at one moment. Waiting for data is part of a step, and looking for numbers
// that are not finite is part of what follows it.
enum class Activity : std::uint8_t { steps, evaluation, checkpoint, other };

class Watch {
  public:
    virtual ~Watch() = default;
    // Is called before every step, on the thread that trains, before the step waits for its data. Returns the
    // recorder that takes the kernels of this step; null if it is not recorded.
    [[nodiscard]] virtual trace::Recorder* before(const StepPlace& place) = 0;
    // Is called after every step, which took `seconds`. Returns its energy; nothing if it is not known.
    [[nodiscard]] virtual std::optional<Energy> after(Seconds seconds) = 0;
    // Is called after the last step of an epoch and before its evaluation. Recorders that before() returned
    // are not used any more.
    virtual void end_epoch() = 0;
    // Is called when an evaluation, a checkpoint or something else begins; steps begin with before(). What
    // follows the last step, its evaluation and its checkpoint is something else.
    virtual void turn_to(Activity activity) = 0;
};

}  // namespace viridian::train
