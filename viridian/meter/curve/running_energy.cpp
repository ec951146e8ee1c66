#include "viridian/meter/curve/running_energy.hpp"

#include <utility>

namespace viridian::meter {
namespace {

// A counter's device may draw this much before it was seen to draw more: the future is not known.
constexpr double assumed_watts = 1000.0;

}  // namespace

void RunningEnergy::take(const Sample& sample) {
    const std::int64_t before = std::exchange(state_.last_value, sample.value);
    const Nanoseconds length =
        std::max<Nanoseconds>(sample.monotonic_ns - std::exchange(state_.last_ns, sample.monotonic_ns), 0);
    if (state_.readings++ == 0 || !channel_.is_power()) return;
    const bool silent = length > longest_silence;
    if (channel_.kind != Kind::energy_uj) {
        if (silent)
            ++state_.doubts;
        else
            state_.energy += power_energy(power_between(channel_, before, sample.value), length, remainder_);
        return;
    }
    const double seconds = 1e-9 * static_cast<double>(length);
    const WattRange drawn{0.0, std::max(assumed_watts, drawn_.of_stretches().most)};
    const CounterInterval interval = counter_interval(channel_, before, sample.value, seconds, silent, drawn);
    drawn_.add(seconds, 1e-6 * static_cast<double>(sample.value - before));
    state_.energy += exact_microjoules(interval.microjoules);
    state_.doubts += interval.doubt == Doubt::none ? 0 : 1;
}

RunningEnergy::State RunningEnergy::at(std::int64_t monotonic_ns) const {
    State state = state_;
    if (!channel_.is_power() || channel_.kind == Kind::energy_uj || state.readings == 0) return state;
    const Nanoseconds held = std::max<Nanoseconds>(monotonic_ns - state.last_ns, 0);
    UInt128 remainder = remainder_;
    if (held > longest_silence)
        ++state.doubts;
    else
        state.energy += power_energy(std::max<std::int64_t>(state.last_value, 0), held, remainder);
    return state;
}

}  // namespace viridian::meter
