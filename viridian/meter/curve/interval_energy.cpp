#include "viridian/meter/curve/interval_energy.hpp"

namespace viridian::meter {
namespace {

constexpr double shortest_stretch = 0.1;  // seconds

bool beyond_any_device(double joules, double seconds) {
    return joules > highest_watts * std::max(seconds, shortest_stretch);
}

bool is_wrap(double wrapped_joules, double seconds, const WattRange& drawn) {
    if (drawn.most <= 0.0) return false;
    if (seconds < 1.0) return wrapped_joules <= 4.0 * drawn.most * std::max(seconds, shortest_stretch);
    return wrapped_joules <= 2.0 * drawn.most * seconds && wrapped_joules >= 0.5 * drawn.least * seconds;
}

}  // namespace

void DrawnPower::add(double seconds, double joules) {
    if (joules < 0.0 || beyond_any_device(joules, seconds)) {
        seconds_ = joules_ = 0.0;
        return;
    }
    seconds_ += seconds;
    joules_ += joules;
    all_seconds_ += seconds;
    all_joules_ += joules;
    if (seconds_ < shortest_stretch) return;
    const double watts = joules_ / seconds_;
    range_ = {any_ ? std::min(range_.least, watts) : watts, std::max(range_.most, watts)};
    any_ = true;
    seconds_ = joules_ = 0.0;
}

WattRange DrawnPower::best_known() const {
    if (any_ || all_seconds_ <= 0.0) return range_;
    return {all_joules_ / all_seconds_, all_joules_ / all_seconds_};
}

CounterInterval counter_interval(const Channel& channel, std::int64_t before, std::int64_t after,
                                 double seconds, bool silent, const WattRange& drawn) {
    const std::int64_t wrap = channel.wrap_uj;
    const auto difference = counter_difference(before, after, wrap);
    const double joules = difference ? 1e-6 * static_cast<double>(*difference) : 0.0;
    const bool fell = after < before;
    const bool known = difference && (fell ? !silent && is_wrap(joules, seconds, drawn)
                                           : !beyond_any_device(joules, seconds));
    if (!known) return {0, Doubt::reset, false};
    CounterInterval out{*difference, Doubt::none, fell};
    if (silent && wrap > 0 && drawn.most * seconds > 1e-6 * static_cast<double>(wrap))
        out.doubt = Doubt::unseen_wrap;
    else if (!silent && wrap > 0 && 2 * *difference > wrap)
        out.doubt = Doubt::aliased;
    return out;
}

std::int64_t power_between(const Channel& channel, std::int64_t before, std::int64_t after) {
    const auto positive = [](std::int64_t value) { return std::max<std::int64_t>(value, 0); };
    return channel.kind == Kind::average_uw ? positive(after) : (positive(before) + positive(after)) / 2;
}

Exact power_energy(std::int64_t microwatts, Nanoseconds length, UInt128& remainder) {
    // 1 uW for 1 ns is 1e-9 uJ.
    const UInt128 product =
        (static_cast<UInt128>(microwatts) * static_cast<UInt128>(length) << 32) + remainder;
    remainder = product % 1'000'000'000U;
    return static_cast<Exact>(product / 1'000'000'000U);
}

}  // namespace viridian::meter
