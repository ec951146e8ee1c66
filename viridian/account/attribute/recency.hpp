#pragma once
// Recency attributes energy to operations by SMARAGDINE's Algorithm 2 as printed; it is kept for comparison
// with the other methods (docs/account.md). Time is divided into ticks. At each tick the operations that are
// active share the most recent power reading equally: names share, not their instances (lines 11-15, 21-24;
// Now of Algorithm 1). An event takes the ticks ts, ts + 1, ..., ts + dur, both ends included (FLATTEN,
// lines 5-6). A tick before the first reading has no power. The class walks over the edges of events instead
// of over ticks; the sums are the same. The shares do not add up to the meter's energy: `residual` holds
// what they lack or, if negative, exceed.
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
    // `readings` are in order of time, `meter_total` is the meter's energy, and `tick` the length of a tick.
    Recency(std::vector<PowerReading> readings, Exact meter_total, Nanoseconds tick = 1000);

    // The calls of a sweep (leaf.hpp). Weights are not used.
    void advance(Nanoseconds time);
    std::uint32_t enter(OperationId operation, std::uint32_t weight, bool first);
    void leave(std::uint32_t slot);
    // Returns the shares. Every leaf must have left.
    [[nodiscard]] Attribution finish() &&;

  private:
    struct Active {
        std::uint64_t instances = 0;
        std::uint64_t count = 0;
        double level = 0.0;  // W when the first of its instances entered
        double energy = 0.0;
        Nanoseconds active = 0;
    };
    struct Slot {
        OperationId operation = 0;
        Nanoseconds start = 0;
    };
    [[nodiscard]] Nanoseconds floor(Nanoseconds time) const;  // the tick in which `time` lies
    void run(Nanoseconds time);                               // charges the ticks before `time`

    std::vector<PowerReading> readings_;
    Nanoseconds tick_;
    Nanoseconds real_ = 0;  // time of the sweep
    Nanoseconds now_ = 0;   // ticks before this time are charged
    bool started_ = false;
    std::size_t next_ = 0;        // first reading that is not yet in force
    double power_ = 0.0;          // W, of the reading in force
    double level_ = 0.0;          // J that one name would have received if it had always been active
    std::uint64_t distinct_ = 0;  // active names
    Ends ends_;                   // delayed leaves, by operation
    std::vector<Active> operations_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    Exact meter_total_;
};

}  // namespace viridian::account
