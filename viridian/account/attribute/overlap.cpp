#include "viridian/account/attribute/overlap.hpp"

namespace viridian::account {

Overlap::Overlap(const PowerCurve& curve) : curve_(&curve), integral_(curve) {
    out_.meter_total = curve.total;
    if (curve.empty()) return;
    rate_ = SegmentRate(curve.segments.front());
}

void Overlap::touch(OperationId operation) {
    Detail& detail = details_[operation];
    if (detail.touched == at_ || at_ == curve_->segments.size()) return;
    const PowerSegment& segment = curve_->segments[at_];
    if (now_ < segment.begin || segment.gap) return;
    detail.touched = at_;
    detail.share.high += segment.energy;
}

void Overlap::touch_quiet() {
    const Exact energy = curve_->segments[at_].energy;
    if (at_ != before_touched_) pending_.high += energy;
    if (at_ == idle_touched_) return;
    pending_.idle_high += energy;
    idle_touched_ = at_;
}

void Overlap::begin_segment() {
    spent_ = 0;
    edges_ = false;
    if (at_ == curve_->segments.size()) return;
    rate_ = SegmentRate(curve_->segments[at_]);
    for (const std::uint32_t slot : active_) touch(slots_[slot].operation);
}

void Overlap::end_segment() {
    const PowerSegment& segment = curve_->segments[at_];
    if (active_.size() == 1 && !edges_ && !segment.gap && slots_[active_[0]].start <= segment.begin)
        details_[slots_[active_[0]].operation].share.low += segment.energy;
    if (segment.gap) {
        out_.unattributed_interval.low += segment.energy;
        out_.unattributed_interval.high += segment.energy;
    } else if (active_.empty() && quiet_since_ < segment.end) {
        if (quiet_since_ <= segment.begin) pending_.low += segment.energy;
        touch_quiet();
    }
    ++at_;
    begin_segment();
}

void Overlap::spend(Exact energy) {
    if (curve_->segments[at_].gap) {
        out_.unattributed += energy;
    } else if (weights_ == 0) {
        pending_.energy += energy;
    } else if (weights_ == 1) {
        level_ += energy + carry_;
        carry_ = 0;
    } else {
        const Exact units = energy + carry_;
        if (units >> 63 == 0) {
            const auto small = static_cast<std::uint64_t>(units);
            level_ += small / weights_;
            carry_ = static_cast<Exact>(small % weights_);
        } else {
            level_ += units / weights_;
            carry_ = units % weights_;
        }
    }
}

void Overlap::advance(Nanoseconds time) {
    while (now_ < time) {
        if (at_ == curve_->segments.size()) {
            if (!active_.empty()) out_.uncovered += time - now_;
            now_ = time;
            return;
        }
        const PowerSegment& segment = curve_->segments[at_];
        if (now_ < segment.begin) {  // only before the first segment
            const Nanoseconds until = std::min(time, segment.begin);
            if (!active_.empty()) out_.uncovered += until - now_;
            now_ = until;
            if (now_ == segment.begin) begin_segment();
            continue;
        }
        const Nanoseconds until = std::min(time, segment.end);
        const Exact spent = rate_.at(segment, until);
        spend(spent - spent_);
        spent_ = spent;
        now_ = until;
        if (until == segment.end) end_segment();
    }
}

void Overlap::end_quiet() {
    const bool within = at_ < curve_->segments.size() && !curve_->segments[at_].gap &&
                        now_ > curve_->segments[at_].begin && now_ > quiet_since_;
    if (within) touch_quiet();
    if (started_) {
        out_.idle += integral_.until(now_) - idle_begin_;
        out_.idle_interval.low += pending_.low;
        out_.idle_interval.high += pending_.idle_high;
    } else {
        out_.unattributed += pending_.energy;
        out_.unattributed_interval.low += pending_.low;
        out_.unattributed_interval.high += pending_.high;
        if (within) before_touched_ = at_;
        idle_touched_ = SIZE_MAX;
    }
    pending_ = {};
    started_ = true;
}

std::uint32_t Overlap::enter(OperationId operation, std::uint32_t weight, bool first) {
    if (operation >= details_.size()) details_.resize(std::size_t{operation} + 1);
    if (active_.empty()) end_quiet();
    std::uint32_t slot = 0;
    if (free_.empty()) {
        slot = static_cast<std::uint32_t>(slots_.size());
        slots_.emplace_back();
    } else {
        slot = free_.back();
        free_.pop_back();
    }
    slots_[slot] = {operation, std::max(weight, 1U), static_cast<std::uint32_t>(active_.size()), now_,
                    level_};
    active_.push_back(slot);
    weights_ += slots_[slot].weight;
    details_[operation].share.count += first ? 1 : 0;
    if (at_ < curve_->segments.size() && now_ > curve_->segments[at_].begin) edges_ = true;
    touch(operation);
    return slot;
}

void Overlap::leave(std::uint32_t slot) {
    const Slot& left = slots_[slot];
    Share& share = details_[left.operation].share;
    share.energy += (level_ - left.level) * left.weight;
    share.active += now_ - left.start;
    weights_ -= left.weight;
    const std::uint32_t last = active_.back();
    active_[left.position] = last;
    slots_[last].position = left.position;
    active_.pop_back();
    free_.push_back(slot);
    if (at_ < curve_->segments.size() && now_ > curve_->segments[at_].begin) edges_ = true;
    if (!active_.empty()) return;
    idle_begin_ = integral_.until(now_);
    quiet_since_ = now_;
}

Attribution Overlap::finish() && {
    invariant(active_.empty(), "every leaf that entered has left");
    advance(curve_->empty() ? now_ : std::max(now_, curve_->end()));
    out_.unattributed += pending_.energy + carry_;
    out_.unattributed_interval.low += pending_.low;
    out_.unattributed_interval.high += pending_.high + carry_;
    out_.shares.reserve(details_.size());
    for (const Detail& detail : details_) out_.shares.push_back(detail.share);
    return std::move(out_);
}

}  // namespace viridian::account
