#pragma once
// Energy over a window: run some work, get its joules from one meter, with an interval and provenance.
#include <functional>

#include "viridian/meter/meter.hpp"

namespace viridian::meter {

struct Measurement {
    Energy energy;  // of the counted channels (list.hpp) of the devices asked for; static power included
    Seconds seconds;
};

// Counters are read at both ends, and those that return to zero also meanwhile, so that no second wrap goes
// unseen; powers are sampled every `period` meanwhile by a thread. The interval
// covers one update of the meter at each end: make the window long (at least 20 updates, method §1). `device`
// "" means every device of the meter. Errors: missing_entry (no such device), device_failed (a counter reset,
// stopped or lost), and those of reading. Never 0 J in silence: a counter that did not move gives an error.
[[nodiscard]] Result<Measurement> measure(const Meter& meter, const std::function<void()>& work,
                                          std::string_view device = "", Seconds period = Seconds(0.004));

// How often the meter's values really change, by reading it as fast as it goes for at most `budget`: the
// median time between changes, the fastest power channel. 0 if nothing changed often enough to tell.
[[nodiscard]] Result<Seconds> measure_update(const Meter& meter, Seconds budget = Seconds(0.2));

}  // namespace viridian::meter
