#pragma once
// A Watch looks at a training run from outside while it runs: it meters the steps, and has the kernels of
// some of them recorded.
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

class Watch {
  public:
    virtual ~Watch() = default;
    // Is called before every step, on the thread that trains, before the step waits for its data. Returns the
    // recorder that takes the kernels of this step; null if it is not recorded.
    [[nodiscard]] virtual trace::Recorder* before(const StepPlace& place) = 0;
    // Is called after every step, which took `seconds`. Returns its energy; nothing if it is not known.
    [[nodiscard]] virtual std::optional<Energy> after(Seconds seconds) = 0;
    // Is called after the last step of an epoch and before its evaluation. Returns the energy of the epoch's
    // steps in this process; nothing if it is not known.
    [[nodiscard]] virtual std::optional<Energy> end_epoch(std::int64_t epoch) = 0;
};

}  // namespace viridian::train
