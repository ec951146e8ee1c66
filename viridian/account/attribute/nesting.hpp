#pragma once
// Nesting finds the leaves (leaf.hpp) in the events of one device, which it takes in order of time, and
// drives a sweep over them. The leaf of a lane is its innermost work: an operator that calls another waits
// while its callee runs, and is charged only for its own time. Events that are not work (scopes, launches)
// are passed over.
#include <unordered_map>
#include <vector>

#include "viridian/account/attribute/leaf.hpp"
#include "viridian/trace/event.hpp"

namespace viridian::account {

template <Sweep T>
class Nesting {
  public:
    explicit Nesting(T& sweep) : sweep_(&sweep) {}

    // Takes the next event; events come in order of time. `operation` and `weight` belong to its leaf and are
    // used only if the event is work.
    void add(const trace::Event& event, OperationId operation, std::uint32_t weight) {
        close_until(event.start);
        if (event.end < event.start || event.kind >= trace::Kind::overhead) return;
        if (event.lane >= lanes_.size()) lanes_.resize(std::size_t{event.lane} + 1);
        std::vector<Frame>& lane = lanes_[event.lane];
        while (!lane.empty() && lane.back().end <= event.start && lane.back().instance != event.parent)
            lane.pop_back();
        const std::uint32_t above = find(lane, event.parent);
        if (!trace::is_work(event.kind)) {
            if (event.instance != 0) lane.push_back({event.instance, event.end, above});
            return;
        }
        sweep_->advance(event.start);
        const std::uint32_t caller = above != none && open_[above].state != State::closed ? above : none;
        if (caller != none && open_[caller].callees++ == 0) sweep_->leave(open_[caller].slot);
        const std::uint32_t mine = allocate();
        open_[mine] = {operation, weight, sweep_->enter(operation, weight, true), caller, 0, State::open};
        ends_.push({event.end, mine});
        if (event.instance != 0) lane.push_back({event.instance, event.end, mine});
    }
    // Ends all leaves that are still open. Call once, after the last event.
    void finish() { close_until(INT64_MAX); }

  private:
    static constexpr std::uint32_t none = UINT32_MAX;
    enum class State : std::uint8_t { open, closed };
    struct Open {
        OperationId operation = 0;
        std::uint32_t weight = 1;
        std::uint32_t slot = 0;
        std::uint32_t caller = none;
        std::uint32_t callees = 0;  // while any runs, this one waits
        State state = State::closed;
    };
    struct Frame {  // an entry of a lane's stack: the open work that belongs to an instance
        trace::InstanceId instance;
        Nanoseconds end;
        std::uint32_t work;
    };

    // Returns the open work of `instance`, or `none`.
    std::uint32_t find(const std::vector<Frame>& lane, trace::InstanceId instance) const {
        if (instance == 0) return none;
        for (auto entry = lane.rbegin(); entry != lane.rend(); ++entry)
            if (entry->instance == instance) return entry->work;
        return none;
    }
    std::uint32_t allocate() {
        if (free_.empty()) {
            open_.emplace_back();
            return static_cast<std::uint32_t>(open_.size() - 1);
        }
        const std::uint32_t index = free_.back();
        free_.pop_back();
        return index;
    }
    // Ends the leaves that end at or before `time`.
    void close_until(Nanoseconds time) {
        while (!ends_.empty() && ends_.top().time <= time) {
            const Ends::End end = ends_.pop();
            sweep_->advance(end.time);
            Open& done = open_[end.what];
            if (done.callees == 0) sweep_->leave(done.slot);
            done.state = State::closed;
            if (done.caller != none) release(done.caller);
            if (done.callees == 0) free_.push_back(end.what);
        }
    }
    // Counts one callee of `caller` as done. If it was the last, the caller's own leaf goes on.
    void release(std::uint32_t caller) {
        Open& one = open_[caller];
        if (--one.callees > 0) return;
        if (one.state == State::open)
            one.slot = sweep_->enter(one.operation, one.weight, false);
        else
            free_.push_back(caller);  // it ended before its callee did
    }

    T* sweep_;
    Ends ends_;
    std::vector<Open> open_;
    std::vector<std::uint32_t> free_;
    std::vector<std::vector<Frame>> lanes_;
};

}  // namespace viridian::account
