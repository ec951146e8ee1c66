#pragma once
// Overlap divides the energy of a device exactly among the leaves that are active at the same time
// (docs/method.md, 5, `overlap`). Power P is a step function; k(t) is the summed weight of the leaves active
// at t, W(t) the integral of P / k, and a leaf of weight w gets w * (W(end) - W(start)). Nothing is rounded
// away: the remainder of a division carries into the next piece. The idle energy is taken from the meter's
// integral at the edges of idle stretches, not from what is left over, so that comparing the sum of all
// parts with the meter is a real check.
#include "viridian/account/attribute/leaf.hpp"
#include "viridian/account/power/power_types.hpp"

namespace viridian::account {

struct Share {                // what one operation received
    std::uint64_t count = 0;  // instances
    Nanoseconds active = 0;   // summed over instances
    Exact energy = 0;
    // Bounds that no attribution can leave: energy of segments that it filled alone, of all segments that it
    // touched.
    Exact low = 0;
    Exact high = 0;
};

struct Attribution {
    std::vector<Share> shares;  // by OperationId
    Exact idle = 0;             // between leaves
    Exact unattributed = 0;     // before the first leaf, after the last, in gaps
    Exact residual = 0;         // signed misfit of a method that does not conserve
    Exact meter_total = 0;
    Nanoseconds uncovered = 0;  // active time without any power reading

    // Zero if every joule has exactly one owner.
    [[nodiscard]] Exact imbalance() const;
};

class Overlap {
  public:
    explicit Overlap(const PowerCurve& curve);

    void advance(Nanoseconds time);
    std::uint32_t enter(OperationId operation, std::uint32_t weight, bool first);
    void leave(std::uint32_t slot);
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
        std::size_t touched = SIZE_MAX;  // last step that it touched
    };
    void begin_segment();
    void end_segment();
    void touch(OperationId operation);
    void spend(Exact energy);

    const PowerCurve* curve_;
    EnergyIntegral integral_;
    SegmentRate rate_;
    std::size_t at_ = 0;  // the current step
    Nanoseconds now_ = INT64_MIN;
    Exact spent_ = 0;     // of the current step
    bool edges_ = false;  // something entered or left inside the current step
    Exact level_ = 0;     // W
    Exact carry_ = 0;
    std::uint64_t weights_ = 0;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_, active_;
    std::vector<Detail> details_;
    bool started_ = false;
    Exact idle_begin_ = 0;  // the meter's integral when the last leaf left
    Exact pending_ = 0;     // energy since then: idle if another leaf comes, unattributed if not
    Attribution out_;
};

}  // namespace viridian::account
