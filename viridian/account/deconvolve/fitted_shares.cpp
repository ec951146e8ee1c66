#include "viridian/account/deconvolve/fitted_shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "viridian/account/deconvolve/base_seconds.hpp"

namespace viridian::account {
namespace {

// For a normal distribution 1.96 would do on the average over programs. The errors of one program's
// operations are related, and the strength of the prior was itself estimated: with this quantile, nine in ten
// operations of nearly every program are covered (docs/account.md).
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

// Energy of an operation, linear in theta: base-seconds, kind-seconds, knot-seconds.
struct Functional {
    std::vector<double> weights;
    double constant = 0.0;  // joules that theta does not carry: the windows' mean power
};

Functional functional_of(const Columns& columns, std::uint32_t kind, const BaseSeconds::Of& of, double mean) {
    Functional out{std::vector<double>(columns.size()), 0.0};
    double base = 0.0;
    for (const double seconds : of.by_knot) base += seconds;
    out.weights[0] = base;
    out.weights[columns.kind(kind)] = of.active;
    for (std::size_t m = 0; m < columns.knots && m < of.by_knot.size(); ++m)
        out.weights[columns.knot(m)] = of.by_knot[m];
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
                     const std::vector<double>& theta, Nanoseconds begin, Nanoseconds end, Exact& outside) {
    const Occupancy& occupancy = *design.occupancy;
    Occupancy::Cursor cursor(occupancy);
    std::vector<double> before(occupancy.kinds());
    double misfit = 0.0;
    for (const PowerSegment& segment : curve.segments) {
        const Nanoseconds from = std::max(segment.begin, begin), to = std::min(segment.end, end);
        if (segment.gap || from >= to) {
            outside += segment.energy;
            continue;
        }
        const SegmentRate rate(segment);
        const Exact inside = rate.at(segment, to) - (from == segment.begin ? 0 : rate.at(segment, from));
        outside += segment.energy - inside;
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

}  // namespace

Attribution fitted_shares(std::span<const Leaf> leaves, std::span<const std::uint32_t> kind_of,
                          const PowerCurve& curve, const Design& design, const WattsFit& watts) {
    const Columns& columns = watts.fit.columns;
    const std::vector<double>& theta = watts.fit.theta;
    const PowerCurve moved = shifted(curve, static_cast<Nanoseconds>(std::llround(watts.sensor.shift_ns)));
    BaseSeconds base(moved, design.drift);
    sweep_leaves(leaves, base);
    base.operations.resize(kind_of.size());
    Attribution out;
    out.meter_total = curve.total;
    out.uncovered = base.uncovered;
    for (OperationId operation = 0; operation < kind_of.size(); ++operation) {
        const BaseSeconds::Of& of = base.operations[operation];
        const Functional energy = functional_of(columns, kind_of[operation], of, design.centre_watts);
        const double value = dot(energy.weights, theta) + energy.constant;
        const double spread =
            of.count == 0 ? 0.0
                          : std::hypot(quantile * watts.deviation_of(energy.weights), narrowest * value);
        out.shares.push_back({of.count, of.wall, exact_joules(value),
                              exact_joules(std::max(0.0, value - spread)), exact_joules(value + spread)});
    }
    const double idle_watts = design.centre_watts + theta[0] + theta[columns.kind(columns.kinds - 1)];
    double idle = 0.0;
    for (std::size_t m = 0; m < base.idle.size(); ++m)
        idle += base.idle[m] * (idle_watts + (columns.knots > 0 ? theta[columns.knot(m)] : 0.0));
    out.idle = exact_joules(idle);
    out.residual = exact_joules(
        misfit_energy(moved, design, columns, theta, base.begin(), base.end(), out.unattributed));
    return out;
}

}  // namespace viridian::account
