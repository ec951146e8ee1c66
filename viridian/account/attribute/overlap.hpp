#pragma once
// Overlap divides the energy of a device exactly among the leaves that are active at the same time
// (docs/method.md, 5, `overlap`). Power P is a step function; k(t) is the summed weight of the leaves active
// at t, W(t) the integral of P / k, and a leaf of weight w gets w * (W(end) - W(start)). Nothing is rounded
// away: the remainder of a division carries into the next piece. The idle energy is taken from the meter's
// integral at the edges of idle stretches, not from what is left over, so that comparing the sum of all
// parts with the meter is a real check.
#include "viridian/account/attribute/attribution.hpp"
#include "viridian/account/attribute/leaf.hpp"

namespace viridian::account {

// The intervals are bounds that hold for every attribution. `low` is the energy of the segments that a part
// filled alone, `high` the energy of all segments that it touched.
class Overlap {  // NOLINT(clang-analyzer-optin.performance.Padding): one object for each device
  public:
    // `curve` is the device's power; it must outlive this object.
    explicit Overlap(const PowerCurve& curve);

    // The calls of a sweep (leaf.hpp).
    void advance(Nanoseconds time);
    std::uint32_t enter(OperationId operation, std::uint32_t weight, bool first);
    void leave(std::uint32_t slot);
    // Reads the curve to its end and returns the attribution. Every leaf must have left.
    [[nodiscard]] Attribution finish() &&;

  private:
    struct Slot {
        OperationId operation = 0;
        std::uint32_t weight = 1;
        std::uint32_t position = 0;  // in active_
        Nanoseconds start = 0;
        Exact level = 0;  // W when it entered
    };
    struct Detail {
        Share share;
        std::size_t touched = SIZE_MAX;  // last segment that it touched
    };
    void begin_segment();
    void end_segment();
    void touch(OperationId operation);  // adds the present segment to the operation's upper bound
    void touch_quiet();                 // adds the present segment to the bounds of what no leaf received
    void end_quiet();                   // ends a stretch without leaves, because a leaf enters
    void spend(Exact energy);           // gives the energy to the active leaves, or to idle or unattributed

    const PowerCurve* curve_;
    EnergyIntegral integral_;
    SegmentRate rate_;
    std::size_t at_ = 0;  // the current segment
    Nanoseconds now_ = INT64_MIN;
    Exact spent_ = 0;            // energy of the current segment that is given out
    Exact level_ = 0;            // W(now)
    Exact carry_ = 0;            // remainder of the last division
    std::uint64_t weights_ = 0;  // k(now)
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_, active_;
    std::vector<Detail> details_;
    Exact idle_begin_ = 0;  // the meter's integral when the last leaf left
    // What no leaf received since then: it is idle if another leaf comes, unattributed if not.
    struct Pending {
        Exact energy = 0;
        Exact low = 0;        // segments in which no leaf was active
        Exact high = 0;       // all segments touched
        Exact idle_high = 0;  // those of them that idleness had not touched before
    } pending_;
    Nanoseconds quiet_since_ = INT64_MIN;    // when the last leaf left
    std::size_t idle_touched_ = SIZE_MAX;    // last segment that idleness touched
    std::size_t before_touched_ = SIZE_MAX;  // the segment in which the first leaf entered
    Attribution out_;
    bool started_ = false;
    bool edges_ = false;  // a leaf entered or left inside the current segment
};

}  // namespace viridian::account
