#include "viridian/account/attribute/recency.hpp"

namespace viridian::account {

std::vector<PowerReading> power_readings(const PowerCurve& curve) {
    std::vector<PowerReading> readings;
    readings.reserve(curve.segments.size());
    for (const PowerSegment& segment : curve.segments)
        readings.push_back(
            {segment.end,
             joules(segment.energy) / Seconds(1e-9 * static_cast<double>(segment.end - segment.begin))});
    return readings;
}

Recency::Recency(std::vector<PowerReading> readings, Exact meter_total, Nanoseconds tick)
    : readings_(std::move(readings)), tick_(std::max<Nanoseconds>(tick, 1)), meter_total_(meter_total) {}

Nanoseconds Recency::floor(Nanoseconds time) const {
    const Nanoseconds rest = time % tick_;
    return time - (rest < 0 ? rest + tick_ : rest);
}

// Charges ticks up to `time`. A reading is in force from the first tick at or after it.
void Recency::run(Nanoseconds time) {
    while (now_ < time) {
        while (next_ < readings_.size() && readings_[next_].time <= now_)
            power_ = readings_[next_++].power.value;
        Nanoseconds until = time;
        if (next_ < readings_.size()) until = std::min(until, floor(readings_[next_].time + tick_ - 1));
        if (distinct_ > 0)
            level_ += power_ * 1e-9 * static_cast<double>(until - now_) / static_cast<double>(distinct_);
        now_ = until;
    }
}

void Recency::advance(Nanoseconds time) {
    real_ = time;
    const Nanoseconds target = floor(time);
    if (!started_) {
        now_ = target;
        started_ = true;
    }
    while (!ends_.empty() && ends_.top().time <= target) {
        const Ends::End end = ends_.pop();
        run(end.time);
        Active& operation = operations_[end.what];
        if (--operation.instances > 0) continue;
        operation.energy += level_ - operation.level;
        --distinct_;
    }
    run(target);
}

std::uint32_t Recency::enter(OperationId operation, std::uint32_t, bool first) {
    if (operation >= operations_.size()) operations_.resize(std::size_t{operation} + 1);
    Active& active = operations_[operation];
    active.count += first ? 1 : 0;
    if (active.instances++ == 0) {
        active.level = level_;
        ++distinct_;
    }
    if (free_.empty()) {
        slots_.push_back({operation, real_});
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = {operation, real_};
    return slot;
}

void Recency::leave(std::uint32_t slot) {
    const Slot& left = slots_[slot];
    operations_[left.operation].active += real_ - left.start;
    ends_.push({floor(real_) + tick_, left.operation});
    free_.push_back(slot);
}

Attribution Recency::finish() && {
    if (started_) advance(real_ + 2 * tick_);
    Attribution out;
    out.meter_total = meter_total_;
    Exact given = 0;
    for (const Active& operation : operations_) {
        Share share{operation.count, operation.active, exact_joules(operation.energy), 0, 0};
        share.low = share.high = share.energy;  // the paper gives no interval
        given += share.energy;
        out.shares.push_back(share);
    }
    out.residual = meter_total_ - given;
    return out;
}

}  // namespace viridian::account
