#pragma once
// Recency is SMARAGDINE's Algorithm 2 as printed, kept for comparison. Time is ticks. FLATTEN: an event takes
// the ticks ts, ts + 1, ..., ts + dur, both ends included (lines 5-6). At each tick the *set* of active
// operations (names, not instances) shares the most recent power reading equally (lines 11-15, 21-24; Now of
// Algorithm 1). A tick before the first reading has no power. Computed by edges, not by flattening; the sums
// are the same. It does not conserve: `residual` holds what it gave too little (or, negative, too much).
#include "viridian/account/attribute/overlap.hpp"

namespace viridian::account {

struct PowerReading {
    Nanoseconds time = 0;
    Watts power;
};

// The mean power of each segment, known from the time of its second reading on.
[[nodiscard]] std::vector<PowerReading> power_readings(const PowerCurve& curve);

class Recency {
  public:
    Recency(std::vector<PowerReading> readings, Exact meter_total, Nanoseconds tick = 1000);

    void advance(Nanoseconds time);
    std::uint32_t enter(OperationId operation, std::uint32_t weight, bool first);
    void leave(std::uint32_t slot);
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
    [[nodiscard]] Nanoseconds floor(Nanoseconds time) const;
    void run(Nanoseconds time);

    std::vector<PowerReading> readings_;
    Nanoseconds tick_;
    Nanoseconds real_ = 0;  // where the sweep is
    Nanoseconds now_ = 0;   // the tick that has been charged up to
    bool started_ = false;
    std::size_t next_ = 0;  // reading not yet in force
    double power_ = 0.0;
    double level_ = 0.0;
    std::uint64_t distinct_ = 0;
    Ends ends_;  // delayed leaves, by operation
    std::vector<Active> operations_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    Exact meter_total_;
};

}  // namespace viridian::account
