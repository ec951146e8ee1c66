#include "viridian/account/deconvolve/base_seconds.hpp"

#include <algorithm>

namespace viridian::account {

BaseSeconds::BaseSeconds(const PowerCurve& curve, const Drift& drift)
    : idle(std::max<std::size_t>(drift.knots, 1)),
      curve_(&curve),
      drift_(drift),
      knots_(std::max<std::size_t>(drift.knots, 1)),
      level_(knots_),
      pending_(knots_) {}

std::size_t BaseSeconds::knot_at(Nanoseconds time) const {
    return drift_.knots == 0 ? 0 : drift_.at(static_cast<double>(time - drift_.begin)).knot;
}

void BaseSeconds::spend(Nanoseconds from, Nanoseconds to) {
    const double seconds = 1e-9 * static_cast<double>(to - from);
    if (active_ > 0) covered_ += seconds;
    std::vector<double>& into = active_ > 0 ? level_ : pending_;
    const double each = active_ > 0 ? seconds / static_cast<double>(active_) : seconds;
    if (active_ == 0 && !started_) return;
    if (drift_.knots == 0) {
        into[0] += each;
        return;
    }
    const Drift::At at = drift_.at(0.5 * static_cast<double>((from - drift_.begin) + (to - drift_.begin)));
    into[at.knot] += at.left * each;
    into[at.knot + 1] += at.right * each;
}

void BaseSeconds::advance(Nanoseconds time) {
    while (now_ < time) {
        while (at_ < curve_->segments.size() && curve_->segments[at_].end <= now_) ++at_;
        const bool over = at_ == curve_->segments.size();
        const bool before = !over && now_ < curve_->segments[at_].begin;
        Nanoseconds until =
            over ? time : std::min(time, before ? curve_->segments[at_].begin : curve_->segments[at_].end);
        if (over || before || curve_->segments[at_].gap) {
            if (active_ > 0) uncovered += until - now_;
        } else {
            if (drift_.knots > 0) {  // straight lines are integrated piece by piece
                const double next = static_cast<double>(knot_at(now_) + 1) * drift_.spacing_ns;
                const Nanoseconds knot = drift_.begin + static_cast<Nanoseconds>(next);
                if (knot > now_) until = std::min(until, knot);
            }
            spend(now_, until);
        }
        now_ = until;
    }
}

std::uint32_t BaseSeconds::enter(OperationId operation, std::uint32_t, bool first) {
    if (operation >= operations.size()) operations.resize(std::size_t{operation} + 1);
    operations[operation].count += first ? 1 : 0;
    if (!started_) begin_ = now_;
    if (active_ == 0) {
        for (std::size_t m = 0; m < knots_; ++m) {
            if (started_) idle[m] += pending_[m];
            pending_[m] = 0.0;
        }
        started_ = true;
    }
    ++active_;
    const std::size_t knot = knot_at(now_);
    const Slot slot{operation, now_,         covered_,
                    knot,      level_[knot], knot + 1 < knots_ ? level_[knot + 1] : 0.0};
    if (free_.empty()) {
        slots_.push_back(slot);
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    slots_[index] = slot;
    return index;
}

void BaseSeconds::leave(std::uint32_t index) {
    const Slot& slot = slots_[index];
    Of& operation = operations[slot.operation];
    if (operation.by_knot.empty()) operation.by_knot.resize(knots_);
    operation.wall += now_ - slot.start;
    operation.active += covered_ - slot.covered;
    const std::size_t last = std::min(knot_at(now_) + 1, knots_ - 1);
    for (std::size_t m = slot.knot; m <= last; ++m) {  // later knots stood at 0 when it entered
        const double from = m == slot.knot ? slot.left : m == slot.knot + 1 ? slot.right : 0.0;
        operation.by_knot[m] += level_[m] - from;
    }
    --active_;
    end_ = now_;
    free_.push_back(index);
}

}  // namespace viridian::account
