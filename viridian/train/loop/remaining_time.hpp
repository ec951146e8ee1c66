#pragma once
// A RemainingTime estimates how long a run still takes: its steps, and the pauses between them, in which it
// evaluates, writes checkpoints and accounts joules.
#include <cstdint>

#include "viridian/base/units.hpp"

namespace viridian::train {

class RemainingTime {
  public:
    // A step took so long. The estimate follows a running mean of all steps.
    void step(Seconds took) {
        mean_ = mean_.value == 0 ? took : Seconds(0.95 * mean_.value + 0.05 * took.value);
    }
    // The run did something else for so long.
    void pause(Seconds took) { paused_ = Seconds(paused_.value + took.value); }
    // All pauses of an epoch are over.
    void end_epoch() {
        ++epochs_;
        ended_ = paused_;
    }
    // Returns the time of `steps` more steps and the pauses of `epochs` more epochs, each as long as those of
    // the mean epoch before. Before the first epoch has ended, pauses are not known and count as nothing.
    [[nodiscard]] Seconds of(std::int64_t steps, std::int64_t epochs) const {
        const double each = epochs_ == 0 ? 0 : ended_.value / static_cast<double>(epochs_);
        return Seconds(mean_.value * static_cast<double>(steps) + each * static_cast<double>(epochs));
    }

  private:
    Seconds mean_{}, paused_{}, ended_{};  // `ended_`: the pauses of epochs that have ended
    std::int64_t epochs_ = 0;
};

}  // namespace viridian::train
