#pragma once
// EventQueue is the priority queue of ParametricFlow, which lowers a pipeline's deadline from the slowest
// plan to the fastest. It holds the arcs that will become tight, each with the deadline at which it does
// (`time`), and hands out the latest first. It is a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990).
// Deadlines only fall: no event may be pushed that is later than the last one taken.
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "viridian/pipeline/profile/curve.hpp"

namespace viridian::pipeline {

struct Event {
    Nanoseconds time;
    std::int32_t arc;
};

class EventQueue {
  public:
    // No event may be later than `latest`.
    explicit EventQueue(Nanoseconds latest) : last_(latest) {}

    void push(Event event) { bucket_[place(event.time)].push_back(event); }

    // Takes the next event that is no earlier than `until` and for which `holds(event)` is true, and puts it
    // into `event`. Events that do not hold are dropped on the way. Returns false if there is none.
    template <typename Holds>
    bool pop(Nanoseconds until, const Holds& holds, Event& event) {
        while (true) {
            while (!bucket_[0].empty()) {
                event = bucket_[0].back();
                if (event.time < until) return false;
                bucket_[0].pop_back();
                if (holds(event)) return true;
            }
            if (!refill(until, holds)) return false;
        }
    }

  private:
    // Returns the bucket of a time: 0 for the present time, otherwise one more than the highest bit in which
    // it differs from the present time.
    [[nodiscard]] std::size_t place(Nanoseconds time) const {
        return static_cast<std::size_t>(
            std::bit_width(static_cast<std::uint64_t>(time) ^ static_cast<std::uint64_t>(last_)));
    }

    // Spreads the first bucket that holds anything over the buckets before it. Returns false if nothing is
    // left that is no earlier than `until`.
    template <typename Holds>
    bool refill(Nanoseconds until, const Holds& holds) {
        for (std::size_t i = 1; i < bucket_.size(); ++i) {
            auto& from = bucket_[i];
            std::erase_if(from, [&](const Event& e) { return !holds(e); });
            if (from.empty()) continue;
            Nanoseconds latest = from.front().time;
            for (const Event& e : from) latest = std::max(latest, e.time);
            if (latest < until) return false;
            last_ = latest;
            for (const Event& e : from) bucket_[place(e.time)].push_back(e);
            from.clear();
            return true;
        }
        return false;
    }

    Nanoseconds last_;
    std::array<std::vector<Event>, 65> bucket_;
};

}  // namespace viridian::pipeline
