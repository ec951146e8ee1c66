#pragma once
// An Attribution says how the energy of one device was divided: what each operation received, and the parts
// that no operation received. Every part comes with an interval (docs/account.md, "Intervals"). Each part is
// computed from an integral of its own, never as what is left over, so that `imbalance` is a real check.
#include <vector>

#include "viridian/account/power/power_types.hpp"

namespace viridian::account {

struct Interval {
    Exact low = 0;
    Exact high = 0;
};

struct Share {                // the part that one operation received
    std::uint64_t count = 0;  // instances
    Nanoseconds active = 0;   // summed over instances
    Exact energy = 0;
    Exact low = 0;  // ends of the interval; what it means depends on the method
    Exact high = 0;
};

struct Attribution {
    std::vector<Share> shares;  // by OperationId
    Exact idle = 0;             // between operations
    Exact unattributed = 0;     // before the first operation, after the last, and in gaps of the power curve
    Exact residual = 0;         // signed misfit of a method whose parts do not add up to the total
    Exact meter_total = 0;      // the meter's own total
    Nanoseconds uncovered = 0;  // active time without any power reading
    Interval idle_interval = {}, unattributed_interval = {}, residual_interval = {};

    // Returns the sum of all parts minus the meter's total. It is zero if every joule has exactly one owner.
    [[nodiscard]] Exact imbalance() const;
};

// Returns whether the parts of `parts` add up to the meter's total: to the last unit of 2^-32 uJ, or, if
// `rounded` says that a method computes in floating point, to a microjoule and a part in 10^13.
[[nodiscard]] bool balances(const Attribution& parts, bool rounded);

// The energy of a meter outside a span of time. The meter does not say when within a segment its energy was
// drawn, so a segment that an end of the span divides may lie on either side: `low` leaves such segments out
// and `high` counts them whole.
struct Outside {
    Exact energy = 0;
    Interval interval;
};
// Returns the energy of `curve` before `begin`, from `end` on, and in gaps. The ends of the span are known to
// +-`doubt`, which widens the interval.
[[nodiscard]] Outside energy_outside(const PowerCurve& curve, Nanoseconds begin, Nanoseconds end,
                                     Nanoseconds doubt = 0);

}  // namespace viridian::account
