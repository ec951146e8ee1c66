#pragma once
// Recency attributes energy to operations by SMARAGDINE's Algorithm 2 as printed; it is kept for comparison
// with the other methods (docs/account.md). Time is divided into ticks. At each tick the operations that are
// active share the most recent power reading equally: names share, not their instances (lines 11-15, 21-24;
// Now of Algorithm 1). An event takes the ticks ts, ts + 1, ..., ts + dur, both ends included (FLATTEN,
// lines 5-6). FLATTEN takes every event of the trace, so a caller and its callee share while both are active;
// drive the sweep by WholeEvents (leaf.hpp) for that, and by Nesting to give it the leaves alone. A tick
// before the first reading has no power; the last reading holds for ever.
//
// The class walks over the edges of events instead of over ticks; the sums are the same, in exact integers.
// Most recent readings do not add up to the meter's energy. Three integrals make the balance a real check:
// shares grow with the readings while operations are active, `idle` is the readings' integral at the edges of
// idle stretches, and `residual` is the meter's integral over the traced span less that of the readings.
#include "viridian/account/attribute/overlap.hpp"

namespace viridian::account {

struct PowerReading {
    Nanoseconds time = 0;
    Watts power;
};

// Returns the mean power of each segment of `curve`, at the time of the segment's end.
[[nodiscard]] std::vector<PowerReading> power_readings(const PowerCurve& curve);

class Recency {
  public:
    // `readings` are in order of time; those below 0 W count as 0 W. `meter` is the device's power, which
    // must outlive this object, and `tick` the length of a tick.
    Recency(std::span<const PowerReading> readings, const PowerCurve& meter, Nanoseconds tick = 1000);
    Recency(const Recency&) = delete;
    Recency& operator=(const Recency&) = delete;

    // The calls of a sweep (leaf.hpp). Weights are not used.
    void advance(Nanoseconds time);
    std::uint32_t enter(OperationId operation, std::uint32_t weight, bool first);
    void leave(std::uint32_t slot);
    // Returns the attribution. Every event must have left. The paper gives no interval; the ones returned are
    // the bounds of Overlap, widened where the paper's figure lies outside of them.
    [[nodiscard]] Attribution finish() &&;

  private:
    struct Active {
        std::uint64_t instances = 0;
        std::uint64_t count = 0;
        Exact level = 0;  // W when the first of its instances entered
        Exact energy = 0;
        Nanoseconds active = 0;
    };
    struct Slot {
        OperationId operation = 0;
        std::uint32_t bound = 0;  // its number in `bounds_`
        Nanoseconds start = 0;
    };
    [[nodiscard]] Nanoseconds floor(Nanoseconds time) const;  // the tick in which `time` lies
    void charge(Nanoseconds time);                            // gives the energy before `time` to the active
    void end_ticks(Nanoseconds time);  // ends the events whose last tick is before `time`

    const PowerCurve* meter_;
    Nanoseconds tick_;
    PowerCurve recent_;  // the most recent reading as a step function
    EnergyIntegral charged_, edges_;
    Overlap bounds_;
    Nanoseconds real_ = 0;             // time of the sweep
    Nanoseconds begin_ = 0, end_ = 0;  // first tick of the traced span, and the tick after its last
    bool started_ = false;
    Exact spent_ = 0;       // energy of the readings before the present tick
    Exact level_ = 0;       // what one name would have received if it had always been active
    Exact carry_ = 0;       // remainder of the last division
    Exact idle_begin_ = 0;  // the readings' integral when the last name left
    Exact idle_ = 0;
    std::uint64_t distinct_ = 0;  // active names
    Ends ends_;                   // delayed ends, by operation
    std::vector<Active> operations_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
};

}  // namespace viridian::account
