#pragma once
// Finds when a counter was renewed. A recorder that reads it more often than it moves sees each new value
// some time after its renewal; renewals come in a beat, which tells when they really were.
#include <optional>
#include <span>
#include <vector>

#include "viridian/meter/curve/exact_energy.hpp"

namespace viridian::meter {

// A Bracket holds the times of the last reading with the old value and of the first one with the new value.
struct Bracket {
    Nanoseconds old_value = 0;
    Nanoseconds new_value = 0;
};

// RenewalTimes holds one time for each bracket.
struct RenewalTimes {
    std::vector<Nanoseconds> times;
    std::optional<double> period;  // nanoseconds; absent if the renewals have no beat
};

// Returns when the values were renewed. With a beat that nearly all brackets allow (97 %), these are its
// strokes, which may drift slowly. Otherwise, or with fewer than 30 brackets, they are the middles of the
// brackets; in brackets wider than half a usual distance, late in them.
[[nodiscard]] RenewalTimes renewal_times(std::span<const Bracket> brackets);

}  // namespace viridian::meter
