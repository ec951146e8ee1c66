#include "viridian/account/deconvolve/fitted_shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "viridian/account/deconvolve/base_seconds.hpp"

namespace viridian::account {
namespace {

// Half the width of an interval in deviations: 98.8 % of a normal distribution. For 95 % over many programs
// 1.96 would do, but the errors of one program's operations are related, and the strength of the prior was
// itself estimated: with this quantile, nine in ten operations of nearly every program are covered
// (docs/account.md).
constexpr double quantile = 2.5;
// What no window can tell: rounding of stamps, the fit being linear in the shift.
constexpr double narrowest = 1e-3;  // of the energy

PowerCurve shifted(PowerCurve curve, Nanoseconds shift) {
    for (PowerSegment& segment : curve.segments) {
        segment.begin -= shift;
        segment.end -= shift;
    }
    return curve;
}

// An energy that is linear in theta: base-seconds, kind-seconds, knot-seconds.
struct Functional {
    std::vector<double> weights;
    double constant = 0.0;  // joules that theta does not carry: the windows' mean power

    void add(const Functional& other) {
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += other.weights[i];
        constant += other.constant;
    }
};

// `active` are the seconds of instances of `kind`, `by_knot` the seconds of base that they carry.
Functional functional_of(const Columns& columns, std::size_t kind, double active,
                         const std::vector<double>& by_knot, double mean) {
    Functional out{std::vector<double>(columns.size()), 0.0};
    const double base = std::accumulate(by_knot.begin(), by_knot.end(), 0.0);
    out.weights[0] = base;
    out.weights[columns.kind(kind)] = active;
    for (std::size_t m = 0; m < columns.knots && m < by_knot.size(); ++m)
        out.weights[columns.knot(m)] = by_knot[m];
    out.constant = base * mean;
    return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The energy of the drift between two instants. The line bends at each knot: it is integrated in pieces.
double drift_energy(const Design& design, const Columns& columns, const std::vector<double>& theta,
                    Nanoseconds from, Nanoseconds to) {
    if (columns.knots == 0) return 0.0;
    double joules = 0.0;
    const double last = static_cast<double>(to - design.drift.begin);
    for (double at = static_cast<double>(from - design.drift.begin); at < last;) {
        const double bend = (std::floor(at / design.drift.spacing_ns) + 1.0) * design.drift.spacing_ns;
        const double next = std::min(last, std::max(bend, at + 1.0));
        const Drift::At middle = design.drift.at(0.5 * (at + next));
        joules += 1e-9 * (next - at) *
                  (middle.left * theta[columns.knot(middle.knot)] +
                   middle.right * theta[columns.knot(middle.knot + 1)]);
        at = next;
    }
    return joules;
}

// The meter's energy within the traced span less the model's, segment by segment: independent of the shares.
double misfit_energy(const PowerCurve& curve, const Design& design, const Columns& columns,
                     const std::vector<double>& theta, Nanoseconds begin, Nanoseconds end) {
    const Occupancy& occupancy = *design.occupancy;
    Occupancy::Cursor cursor(occupancy);
    std::vector<double> before(occupancy.kinds());
    double misfit = 0.0;
    for (const PowerSegment& segment : curve.segments) {
        const Nanoseconds from = std::max(segment.begin, begin), to = std::min(segment.end, end);
        if (segment.gap || from >= to) continue;
        const SegmentRate rate(segment);
        const Exact inside = rate.at(segment, to) - (from == segment.begin ? 0 : rate.at(segment, from));
        cursor.seek(from);
        for (std::uint32_t k = 0; k < occupancy.kinds(); ++k)
            before[k] = static_cast<double>(cursor.until(k));
        cursor.seek(to);
        const double seconds = 1e-9 * static_cast<double>(to - from);
        double model = (design.centre_watts + theta[0]) * seconds;
        for (std::uint32_t k = 0; k < occupancy.kinds(); ++k)
            model += theta[columns.kind(k)] * 1e-9 * (static_cast<double>(cursor.until(k)) - before[k]);
        model += drift_energy(design, columns, theta, from, to);
        misfit += joules(inside).value - model;
    }
    return misfit;
}

// Returns the nanoseconds beyond which a shift of `curve` changes nothing about what lies outside of the
// span: after a longer one they no longer meet. A log that says nothing about its shift leaves it quite
// unknown.
double longest_shift(const PowerCurve& curve, Nanoseconds begin, Nanoseconds end) {
    if (curve.segments.empty()) return 0;
    return std::max(static_cast<double>(curve.segments.back().end) - static_cast<double>(begin),
                    static_cast<double>(end) - static_cast<double>(curve.segments.front().begin));
}

}  // namespace

Attribution fitted_shares(std::span<const Leaf> leaves, std::span<const std::uint32_t> kind_of,
                          const PowerCurve& curve, const Design& design, const WattsFit& watts) {
    const Columns& columns = watts.fit.columns;
    const std::vector<double>& theta = watts.fit.theta;
    const PowerCurve moved = shifted(curve, static_cast<Nanoseconds>(std::llround(watts.sensor.shift_ns)));
    BaseSeconds base(moved, design.drift);
    sweep_leaves(leaves, base);
    base.operations.resize(kind_of.size());
    const auto spread_of = [&](const std::vector<double>& weights, double value) {
        // Not std::hypot, which would need glibc 2.35 of every machine that the program and the wheel run on.
        const double random = quantile * watts.deviation_of(weights), least = narrowest * value;
        return std::sqrt(random * random + least * least);
    };
    Attribution out;
    out.meter_total = curve.total;
    out.uncovered = base.uncovered;
    Functional all{std::vector<double>(columns.size()), 0.0};  // operations and idleness
    for (OperationId operation = 0; operation < kind_of.size(); ++operation) {
        const BaseSeconds::Of& of = base.operations[operation];
        const Functional energy =
            functional_of(columns, kind_of[operation], of.active, of.by_knot, design.centre_watts);
        const double value = dot(energy.weights, theta) + energy.constant;
        const double spread = of.count == 0 ? 0.0 : spread_of(energy.weights, value);
        all.add(energy);
        out.shares.push_back({of.count, of.wall, exact_joules(value),
                              exact_joules(std::max(0.0, value - spread)), exact_joules(value + spread)});
    }
    const Functional idleness =
        functional_of(columns, columns.kinds - 1, std::accumulate(base.idle.begin(), base.idle.end(), 0.0),
                      base.idle, design.centre_watts);
    const double idle = dot(idleness.weights, theta) + idleness.constant;
    const double idle_spread = spread_of(idleness.weights, idle);
    all.add(idleness);
    out.idle = exact_joules(idle);
    out.idle_interval = {exact_joules(std::min(idle, std::max(0.0, idle - idle_spread))),
                         exact_joules(idle + idle_spread)};

    // The shift is uncertain, and so is what lies inside the traced span.
    const auto doubt = static_cast<Nanoseconds>(
        std::min(longest_shift(moved, base.begin(), base.end()), quantile * watts.sensor.shift_deviation_ns));
    const Outside outside = energy_outside(moved, base.begin(), base.end(), doubt);
    out.unattributed = outside.energy;
    out.unattributed_interval = outside.interval;
    const double misfit = misfit_energy(moved, design, columns, theta, base.begin(), base.end());
    const Exact spread = exact_joules(quantile * watts.deviation_of(all.weights));
    out.residual = exact_joules(misfit);
    out.residual_interval = {out.residual - spread - (outside.interval.high - outside.energy),
                             out.residual + spread + (outside.energy - outside.interval.low)};
    return out;
}

}  // namespace viridian::account
