#pragma once
// Measures the energy of a piece of work by one meter, with an interval and provenance.
#include <functional>
#include <span>

#include "viridian/meter/meter.hpp"

namespace viridian::meter {

struct Measurement {
    Energy
        energy;  // of the counted channels (meters/list.hpp) of the devices asked for; static power included
    Seconds seconds;
};

// Runs `work` and returns its energy. Counters are read at both ends; those that return to zero are also read
// meanwhile, so that no second wrap goes unseen. Powers are sampled every `period` by a thread. The interval
// covers one update of the meter at each end, so the work should last long (at least 20 updates,
// docs/method.md, 1). `devices` are added up; none means every device of the meter. Errors: missing_entry (a
// device that the meter lacks), device_failed (a counter that was reset, lost, or did not move), and those of
// reading.
[[nodiscard]] Result<Measurement> measure(const Meter& meter, const std::function<void()>& work,
                                          std::span<const std::string> devices = {},
                                          Seconds period = Seconds(0.004));

// Finds how often the meter's values really change, by reading it as fast as possible for `budget`. Returns
// the median time between changes of the fastest energy or power channel, or 0 if nothing changed often
// enough to tell. Errors: those of reading.
[[nodiscard]] Result<Seconds> measure_update(const Meter& meter, Seconds budget = Seconds(0.2));

}  // namespace viridian::meter
