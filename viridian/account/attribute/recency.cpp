#include "viridian/account/attribute/recency.hpp"

#include <algorithm>

namespace viridian::account {
namespace {

constexpr double most_watts = 1e12;  // beyond any device; keeps the energy of all time within 128 bits

// The instant of the first tick at or after `time`.
Nanoseconds tick_after(Nanoseconds time, Nanoseconds tick) {
    const Nanoseconds rest = time % tick;
    if (rest == 0) return time;
    const Nanoseconds before = time - (rest < 0 ? rest + tick : rest);
    return before > INT64_MAX - tick ? INT64_MAX : before + tick;
}

// A reading is in force from the first tick at or after it until the next one is; the last holds for ever.
PowerCurve recent_power(std::span<const PowerReading> readings, Nanoseconds tick) {
    PowerCurve out;
    for (std::size_t i = 0; i < readings.size(); ++i) {
        const Nanoseconds begin = tick_after(readings[i].time, tick);
        const Nanoseconds end = i + 1 < readings.size() ? tick_after(readings[i + 1].time, tick) : INT64_MAX;
        if (begin >= end) continue;
        const double watts = std::clamp(readings[i].power.value, 0.0, most_watts);
        out.segments.push_back(
            {begin, end, exact_joules(watts * 1e-9 * static_cast<double>(end - begin)), false});
    }
    return out;
}

// The energy of `curve` from `begin` to `end`, without gaps.
Exact energy_within(const PowerCurve& curve, Nanoseconds begin, Nanoseconds end) {
    EnergyIntegral integral(curve);
    const Exact before = integral.until(begin);
    return integral.until(end) - before;
}

// The narrowest interval that holds both `bounds` and `value`.
Interval widened(Exact low, Exact high, Exact value) { return {std::min(low, value), std::max(high, value)}; }

}  // namespace

std::vector<PowerReading> power_readings(const PowerCurve& curve) {
    std::vector<PowerReading> readings;
    readings.reserve(curve.segments.size());
    for (const PowerSegment& segment : curve.segments)
        readings.push_back(
            {segment.end,
             joules(segment.energy) / Seconds(1e-9 * static_cast<double>(segment.end - segment.begin))});
    return readings;
}

Recency::Recency(std::span<const PowerReading> readings, const PowerCurve& meter, Nanoseconds tick)
    : meter_(&meter),
      tick_(std::max<Nanoseconds>(tick, 1)),
      recent_(recent_power(readings, tick_)),
      charged_(recent_),
      edges_(recent_),
      bounds_(meter) {}

Nanoseconds Recency::floor(Nanoseconds time) const {
    const Nanoseconds rest = time % tick_;
    return time - (rest < 0 ? rest + tick_ : rest);
}

void Recency::charge(Nanoseconds time) {
    const Exact until = charged_.until(time);
    const Exact units = until - spent_ + carry_;
    spent_ = until;
    if (distinct_ == 0) return;
    const auto names = static_cast<Exact>(distinct_);
    if (names == 1) {
        level_ += units;
        carry_ = 0;
    } else if (units >> 63 == 0) {  // 64 bits divide several times faster
        level_ += static_cast<Exact>(static_cast<std::uint64_t>(units) / distinct_);
        carry_ = static_cast<Exact>(static_cast<std::uint64_t>(units) % distinct_);
    } else {
        level_ += units / names;
        carry_ = units % names;
    }
}

void Recency::end_ticks(Nanoseconds time) {
    while (!ends_.empty() && ends_.top().time <= time) {
        const Ends::End end = ends_.pop();
        end_ = std::max(end_, end.time);
        Active& operation = operations_[end.what];
        if (--operation.instances > 0) continue;
        charge(end.time);
        operation.energy += level_ - operation.level;
        if (--distinct_ == 0) idle_begin_ = edges_.until(end.time);
    }
}

void Recency::advance(Nanoseconds time) {
    bounds_.advance(time);
    real_ = time;
    end_ticks(floor(time));
}

std::uint32_t Recency::enter(OperationId operation, std::uint32_t weight, bool first) {
    const Nanoseconds now = floor(real_);
    if (!started_) {
        begin_ = end_ = now;
        idle_begin_ = edges_.until(now);
        started_ = true;
    }
    if (operation >= operations_.size()) operations_.resize(std::size_t{operation} + 1);
    Active& active = operations_[operation];
    active.count += first ? 1 : 0;
    if (active.instances++ == 0) {
        charge(now);
        active.level = level_;
        if (distinct_++ == 0) idle_ += edges_.until(now) - idle_begin_;
    }
    const Slot slot{operation, bounds_.enter(operation, weight, first), real_};
    if (free_.empty()) {
        slots_.push_back(slot);
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    slots_[number] = slot;
    return number;
}

void Recency::leave(std::uint32_t number) {
    const Slot& left = slots_[number];
    operations_[left.operation].active += real_ - left.start;
    bounds_.leave(left.bound);
    const Nanoseconds last = floor(real_);
    ends_.push({last > INT64_MAX - tick_ ? INT64_MAX : last + tick_, left.operation});
    free_.push_back(number);
}

Attribution Recency::finish() && {
    end_ticks(INT64_MAX);
    const Attribution bounds = std::move(bounds_).finish();
    const Outside outside = energy_outside(*meter_, begin_, end_);
    const Exact metered = energy_within(*meter_, begin_, end_), read = energy_within(recent_, begin_, end_);
    Attribution out;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        const Active& operation = operations_[i];
        Interval held{operation.energy, operation.energy};
        if (i < bounds.shares.size())
            held = widened(bounds.shares[i].low, bounds.shares[i].high, operation.energy);
        out.shares.push_back({operation.count, operation.active, operation.energy, held.low, held.high});
    }
    out.meter_total = meter_->total;
    out.idle = idle_;
    out.idle_interval = widened(bounds.idle_interval.low, bounds.idle_interval.high, idle_);
    out.unattributed = outside.energy + carry_;
    out.unattributed_interval = widened(outside.interval.low, outside.interval.high, out.unattributed);
    out.residual = metered - read;
    out.residual_interval = {out.residual - (outside.interval.high - outside.energy),
                             out.residual + (outside.energy - outside.interval.low)};
    return out;
}

}  // namespace viridian::account
