#pragma once
// BaseSeconds finds how much of the base power each operation has to carry, for `deconvolve`. The base power
// is shared equally by the k(t) leaves that are active at time t, and its drift is a sum of hat functions,
// one for each knot (design.hpp). The result of an operation is, for each knot, the integral of the knot's
// hat function / k(t) over the time in which the operation is active and the power is known. It is a sweep
// (leaf.hpp).
#include <utility>

#include "viridian/account/deconvolve/design.hpp"

namespace viridian::account {

class BaseSeconds {
  public:
    // Counts only inside segments of `curve` that are not gaps. `curve` is on the clock of the leaves and
    // must outlive this object.
    BaseSeconds(const PowerCurve& curve, const Drift& drift);

    // The calls of a sweep (leaf.hpp). Weights are not used.
    void advance(Nanoseconds time);
    std::uint32_t enter(OperationId operation, std::uint32_t weight, bool first);
    void leave(std::uint32_t slot);

    // The sums of one operation.
    struct Of {
        std::uint64_t count = 0;      // instances
        double active = 0.0;          // seconds over all instances while the power is known
        Nanoseconds wall = 0;         // time over all instances
        std::vector<double> by_knot;  // seconds of base, weighted by knot; one entry without drift
    };
    std::vector<Of> operations;  // by OperationId
    std::vector<double> idle;    // seconds without leaves between leaves, by knot
    Nanoseconds uncovered = 0;   // time with leaves but without known power
    [[nodiscard]] Nanoseconds begin() const { return begin_; }  // of the first leaf
    [[nodiscard]] Nanoseconds end() const { return end_; }      // of the last leaf

  private:
    struct Slot {
        OperationId operation = 0;
        Nanoseconds start = 0;
        double covered = 0.0;
        std::size_t knot = 0;
        double left = 0.0, right = 0.0;  // levels of the knots around the start
    };
    void spend(Nanoseconds from, Nanoseconds to);
    [[nodiscard]] std::size_t knot_at(Nanoseconds time) const;

    const PowerCurve* curve_;
    Drift drift_;
    std::size_t knots_;
    std::size_t at_ = 0;
    Nanoseconds now_ = INT64_MIN, begin_ = 0, end_ = 0;
    bool started_ = false;
    std::uint64_t active_ = 0;
    double covered_ = 0.0;
    std::vector<double> level_, pending_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
};

}  // namespace viridian::account
