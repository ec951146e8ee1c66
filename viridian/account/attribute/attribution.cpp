#include "viridian/account/attribute/attribution.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::account {

Exact Attribution::imbalance() const {
    Exact sum = idle + unattributed + residual;
    for (const Share& share : shares) sum += share.energy;
    return sum - meter_total;
}

bool balances(const Attribution& parts, bool rounded) {
    const Exact off = parts.imbalance();
    if (!rounded) return off == 0;
    return std::abs(joules(off).value) <= 1e-6 + 1e-13 * std::abs(joules(parts.meter_total).value);
}

Outside energy_outside(const PowerCurve& curve, Nanoseconds begin, Nanoseconds end, Nanoseconds doubt) {
    Outside out;
    for (const PowerSegment& segment : curve.segments) {
        const Nanoseconds from = std::max(segment.begin, begin), to = std::min(segment.end, end);
        if (segment.gap || from >= to) {
            out.energy += segment.energy;
        } else {
            const SegmentRate rate(segment);
            out.energy += rate.at(segment, from) + (segment.energy - rate.at(segment, to));
        }
        const bool apart = segment.end <= begin - doubt || segment.begin >= end + doubt || begin >= end;
        const bool inside = segment.begin >= begin + doubt && segment.end <= end - doubt;
        if (segment.gap || apart) out.interval.low += segment.energy;
        if (segment.gap || !inside) out.interval.high += segment.energy;
    }
    return out;
}

}  // namespace viridian::account
