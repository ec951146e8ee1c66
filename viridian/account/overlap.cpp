#include "viridian/account/overlap.hpp"

namespace viridian::account {

Exact Attribution::imbalance() const {
    Exact sum = idle + unattributed + residual;
    for (const Share& share : shares) sum += share.energy;
    return sum - meter_total;
}

Overlap::Overlap(const Steps& steps) : steps_(&steps), integral_(steps) {
    out_.meter_total = steps.total;
    if (steps.empty()) return;
    rate_ = StepRate(steps.steps.front());
}

void Overlap::touch(OperationId operation) {
    Detail& detail = details_[operation];
    if (detail.touched == at_ || at_ == steps_->steps.size()) return;
    const Step& step = steps_->steps[at_];
    if (now_ < step.begin || step.gap) return;
    detail.touched = at_;
    detail.share.high += step.energy;
}

void Overlap::begin_step() {
    spent_ = 0;
    edges_ = false;
    if (at_ == steps_->steps.size()) return;
    rate_ = StepRate(steps_->steps[at_]);
    for (const std::uint32_t slot : active_) touch(slots_[slot].operation);
}

void Overlap::end_step() {
    const Step& step = steps_->steps[at_];
    if (active_.size() == 1 && !edges_ && !step.gap && slots_[active_[0]].start <= step.begin)
        details_[slots_[active_[0]].operation].share.low += step.energy;
    ++at_;
    begin_step();
}

void Overlap::spend(Exact energy) {
    if (steps_->steps[at_].gap || !started_) {
        out_.unattributed += energy;
    } else if (weights_ == 0) {
        pending_ += energy;
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
        if (at_ == steps_->steps.size()) {
            if (!active_.empty()) out_.uncovered += time - now_;
            now_ = time;
            return;
        }
        const Step& step = steps_->steps[at_];
        if (now_ < step.begin) {  // only before the first step
            const Nanoseconds until = std::min(time, step.begin);
            if (!active_.empty()) out_.uncovered += until - now_;
            now_ = until;
            if (now_ == step.begin) begin_step();
            continue;
        }
        const Nanoseconds until = std::min(time, step.end);
        const Exact spent = rate_.at(step, until);
        spend(spent - spent_);
        spent_ = spent;
        now_ = until;
        if (until == step.end) end_step();
    }
}

std::uint32_t Overlap::enter(OperationId operation, std::uint32_t weight, bool first) {
    if (operation >= details_.size()) details_.resize(std::size_t{operation} + 1);
    if (active_.empty()) {
        const Exact here = integral_.until(now_);
        if (started_) out_.idle += here - idle_begin_;
        pending_ = 0;
        started_ = true;
    }
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
    if (at_ < steps_->steps.size() && now_ > steps_->steps[at_].begin) edges_ = true;
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
    if (at_ < steps_->steps.size() && now_ > steps_->steps[at_].begin) edges_ = true;
    if (active_.empty()) idle_begin_ = integral_.until(now_);
}

Attribution Overlap::finish() && {
    invariant(active_.empty(), "every leaf that entered has left");
    advance(steps_->empty() ? now_ : std::max(now_, steps_->end()));
    out_.unattributed += pending_ + carry_;
    out_.shares.reserve(details_.size());
    for (const Detail& detail : details_) out_.shares.push_back(detail.share);
    return std::move(out_);
}

}  // namespace viridian::account
