#pragma once
// A Leaf is one stretch of time in which an operation was the innermost work of its lane; its end is
// excluded, so that abutting leaves never overlap. A Sweep is told, in order of time, when leaves begin and
// end, and adds something up over them, for example energy. `sweep_leaves`, Nesting (nesting.hpp) and
// WholeEvents drive a sweep; its memory grows with the leaves that are active at the same time, not with the
// trace.
#include <algorithm>
#include <concepts>
#include <span>
#include <vector>

#include "viridian/account/power/power_types.hpp"

namespace viridian::account {

using OperationId = std::uint32_t;  // number of an operation of one device (operations.hpp)

struct Leaf {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    OperationId operation = 0;
    std::uint32_t weight = 1;  // share among concurrent leaves; 1 everywhere means equal shares
};

// Sweep is the concept of a class that can be driven over leaves. It has three calls:
//
// - `advance(time)` moves to `time`, which never goes back. No leaf began or ended since the time before.
// - `enter(operation, weight, first)` begins a leaf at the present time and returns a number for it. `weight`
//   is the leaf's share among concurrent leaves. `first` is true for the first leaf of an instance, and false
//   if an operator goes on after a callee.
// - `leave(number)` ends, at the present time, the leaf for which `enter` returned `number`.
template <class T>
concept Sweep = requires(T sweep, Nanoseconds time, OperationId operation, std::uint32_t number, bool first) {
    sweep.advance(time);
    { sweep.enter(operation, number, first) } -> std::same_as<std::uint32_t>;
    sweep.leave(number);
};

// Ends is a heap of the times at which active leaves end, earliest first.
class Ends {
  public:
    struct End {
        Nanoseconds time;
        std::uint32_t what;  // the leaf, as its owner numbers it
    };
    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] const End& top() const { return heap_.front(); }
    void push(End end) {
        heap_.push_back(end);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    End pop() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const End end = heap_.back();
        heap_.pop_back();
        return end;
    }

  private:
    static bool later(const End& a, const End& b) { return a.time > b.time; }
    std::vector<End> heap_;
};

// WholeEvents drives a sweep over events as they are: an event is active from its start to its end, also
// while others that it called run. Events come in order of their start.
template <Sweep T>
class WholeEvents {
  public:
    explicit WholeEvents(T& sweep) : sweep_(&sweep) {}
    void add(const Leaf& event) {
        close_until(event.start);
        sweep_->advance(event.start);
        ends_.push({std::max(event.end, event.start), sweep_->enter(event.operation, event.weight, true)});
    }
    // Ends all events that are still open. Call once, after the last event.
    void finish() { close_until(INT64_MAX); }

  private:
    void close_until(Nanoseconds time) {
        while (!ends_.empty() && ends_.top().time <= time) {
            const Ends::End end = ends_.pop();
            sweep_->advance(end.time);
            sweep_->leave(end.what);
        }
    }

    T* sweep_;
    Ends ends_;
};

// Drives `sweep` over `leaves`, which are sorted by start, and ends all of them.
template <Sweep T>
void sweep_leaves(std::span<const Leaf> leaves, T& sweep) {
    WholeEvents<T> events(sweep);
    for (const Leaf& leaf : leaves) events.add(leaf);
    events.finish();
}

}  // namespace viridian::account
