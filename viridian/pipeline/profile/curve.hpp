#pragma once
// Curve is the cost of a unit as a convex function of its duration, in integers: the falling part of the
// lower convex hull of the measured points (docs/pipeline.md, "Exact"). Time is in nanoseconds, cost in
// attojoules (1e-18 J) and slope in nanowatts: slope × duration is a cost exactly, so sums are exact in 128
// bits.
#include <cstdint>
#include <span>
#include <vector>

#include "viridian/base/units.hpp"
#include "viridian/pipeline/profile/profile.hpp"

namespace viridian::pipeline {

using Nanoseconds = std::int64_t;
__extension__ using Int128 = __int128;

// Rounds `time` to the nearest nanosecond.
[[nodiscard]] Nanoseconds to_nanoseconds(Seconds time);
[[nodiscard]] inline Seconds to_seconds(Nanoseconds time) { return Seconds(static_cast<double>(time) / 1e9); }
[[nodiscard]] Joules to_joules(Int128 attojoules);
// Returns `number` in decimal.
[[nodiscard]] std::string to_text(Int128 number);

struct Curve {
    std::vector<Nanoseconds> duration;  // vertices, slowest first, strictly falling
    std::vector<std::int64_t> slope;    // nanowatts between vertex j and j + 1, strictly rising; one fewer
    std::vector<int> point;             // per vertex: index into `points`, -1 for a fixed duration
    Int128 slowest_cost = 0;            // attojoules at vertex 0: measured energy minus waiting power × time
    std::vector<Point> points;          // the measured points themselves, clocks rising
    Watts wait;                         // of the rank that runs it

    [[nodiscard]] Nanoseconds slowest() const { return duration.front(); }
    [[nodiscard]] Nanoseconds fastest() const { return duration.back(); }
    // Returns the least cost of a unit that has `time`, in attojoules above waiting. A unit that has more
    // time than its slowest vertex waits, which adds no cost. `time` may not be below the fastest vertex.
    [[nodiscard]] Int128 cost(Nanoseconds time) const;
    // Returns the measured energy of the mix of two neighbouring vertices that takes `time`, which is cut to
    // the range of the curve.
    [[nodiscard]] Joules energy(Nanoseconds time) const;
    // Returns the segment j with duration[j] >= time >= duration[j + 1], or 0 for a fixed duration.
    [[nodiscard]] std::size_t segment(Nanoseconds time) const;
};

// Returns the curve of the measured `points`, whose clocks rise and whose times never rise, on a rank that
// waits with the power `wait`. The fastest vertex is the fastest point.
[[nodiscard]] Curve make_curve(std::span<const Point> points, Watts wait);
// Returns the curve of a unit that takes `time` at any clock, such as an all-reduce. It costs nothing above
// waiting.
[[nodiscard]] Curve fixed_curve(Nanoseconds time, Watts wait);

}  // namespace viridian::pipeline
