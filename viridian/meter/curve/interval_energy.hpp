#pragma once
// Decides how much energy lies between two successive readings of a channel, and what makes it doubtful:
// wraps, resets and silence. PowerCurve applies this rule to a finished recording; RunningEnergy applies it
// to readings as they come.
//
// A counter that falls went round its wrap, or was reset, or its device came back as another: only the first
// has a known energy. A fall is a wrap if the two readings are close together and the energy that the wrap
// would mean is near what the device draws elsewhere. Any other fall, and a rise that no device could draw,
// is a reset: its energy is unknown and counts as nothing.
#include <algorithm>
#include <optional>

#include "viridian/meter/curve/exact_energy.hpp"
#include "viridian/meter/sample.hpp"

namespace viridian::meter {

inline constexpr double highest_watts = 20'000.0;  // no device with one counter draws more

// Returns the change of a counter from `before` to `after`. If the counter fell, one return to zero after
// `wrap` is added; nullopt if `wrap` is 0 or does not explain the fall. Two returns look like one, so a
// caller that knows times and powers must check that the interval is short enough.
[[nodiscard]] constexpr std::optional<std::int64_t> counter_difference(std::int64_t before,
                                                                       std::int64_t after,
                                                                       std::int64_t wrap) {
    if (after >= before) return after - before;
    if (wrap <= 0 || before > wrap) return std::nullopt;
    return wrap - before + after;
}

// Doubt is the reason for which the energy of an interval is not certain.
enum class Doubt : std::uint8_t {
    none,
    reset,        // the counter was reset or replaced: the energy is unknown, 0 is counted
    silence,      // the power was not read for long: the energy is unknown, 0 is counted
    unseen_wrap,  // the counter was not read for so long that it may have gone round: a lower bound
    aliased,      // the counter moved by more than half its range, perhaps more than once: a lower bound
};

// A range of the watts that a device drew; both are 0 if nothing is known.
struct WattRange {
    double least = 0.0, most = 0.0;
};

// DrawnPower learns the power that the device of a counter draws, over stretches of a tenth of a second or
// more. The powers of shorter stretches are too rough to judge by.
class DrawnPower {
  public:
    // Takes the change of the counter, `joules`, in the next `seconds`. A fall or an impossible rise ends the
    // stretch.
    void add(double seconds, double joules);
    // Returns the lowest and highest power of any stretch; 0 if no stretch was long enough.
    [[nodiscard]] WattRange of_stretches() const { return range_; }
    // Returns the range of the stretches. If no stretch was long enough, both ends are the mean power of
    // everything that was added.
    [[nodiscard]] WattRange best_known() const;

  private:
    WattRange range_;
    bool any_ = false;
    double seconds_ = 0.0, joules_ = 0.0, all_seconds_ = 0.0, all_joules_ = 0.0;
};

struct CounterInterval {
    std::int64_t microjoules = 0;
    Doubt doubt = Doubt::none;
    bool wrapped = false;
};

// Returns the energy between two readings of the counter `channel`, which are `seconds` apart. `silent` means
// that this is longer than the channel is usually left unread. `drawn` is the power that the device draws at
// other times.
[[nodiscard]] CounterInterval counter_interval(const Channel& channel, std::int64_t before,
                                               std::int64_t after, double seconds, bool silent,
                                               const WattRange& drawn);

// Returns the microwatts that hold between two readings of the power `channel`. An average holds since the
// reading before it; for instantaneous powers the mean of both ends holds. Readings below 0 W count as 0 W.
[[nodiscard]] std::int64_t power_between(const Channel& channel, std::int64_t before, std::int64_t after);

// Returns the energy of `microwatts` held for `length`. `remainder` carries the part that is less than a unit
// to the next call.
[[nodiscard]] Exact power_energy(std::int64_t microwatts, Nanoseconds length, UInt128& remainder);

}  // namespace viridian::meter
