#include "viridian/account/selftest/error_floor.hpp"

#include <cmath>
#include <numeric>

#include "viridian/account/deconvolve/base_seconds.hpp"

namespace viridian::account {
namespace {

// What truth.hpp documents: watts above the base are uniform in [140, 680] less the base of 90 W.
constexpr double error_floor_base_watts = 90.0;
constexpr double kind_mean = 320.0, kind_variance = 540.0 * 540.0 / 12.0;

}  // namespace

double error_floor(const SyntheticProgram& truth, const meter::Series& series, const SensorModel& model,
                   const Scenario& scenario) {
    const bool counter = model.kind == meter::Kind::energy_uj;
    const Nanoseconds shift = std::llround(scenario.shift.value * 1e9);
    const Sensor sensor{counter, static_cast<double>(model.window), static_cast<double>(shift), 0.0,
                        static_cast<double>(model.period)};
    PowerCurve curve = curve_of(series);
    const std::vector<Window> windows = counter ? windows_of(curve) : windows_of(series);
    const auto kinds = static_cast<std::uint32_t>(truth.energy.size());
    std::vector<std::uint32_t> kind_of(kinds);
    std::iota(kind_of.begin(), kind_of.end(), 0U);
    const Occupancy occupancy(truth.leaves, kind_of, kinds + 1);
    const Design design{
        &occupancy, scenario.drift.value > 0 ? make_drift(occupancy.begin(), occupancy.end()) : Drift{}, 0.0};
    const Columns columns = design.columns(0);
    Normal normal(columns.size());
    design.visit(windows, sensor, {}, 0, [&](std::size_t, const Row& row) { normal.add(row); });

    double noise = scenario.noise.value * scenario.noise.value;  // W^2 of a window; jitter adds to it
    std::vector<double> theta;
    for (int round = 0; round < 4; ++round) {
        Symmetric matrix = normal.xx;
        std::vector<double> right = normal.xy;
        const auto expect = [&](std::size_t column, double mean, double variance) {
            matrix(column, column) += noise / variance;
            right[column] += mean * noise / variance;
        };
        expect(0, error_floor_base_watts, 1.0);
        expect(columns.kind(kinds), 0.0, 1.0);  // idle draws the base
        for (std::uint32_t k = 0; k < kinds; ++k) expect(columns.kind(k), kind_mean, kind_variance);
        for (std::size_t m = 0; m < columns.knots; ++m)
            expect(columns.knot(m), 0.0, scenario.drift.value * scenario.drift.value);
        theta = Cholesky(std::move(matrix)).solve(std::move(right));
        if (scenario.power_jitter <= 0.0) break;
        const double freedom = std::max(1.0, static_cast<double>(normal.count) - static_cast<double>(kinds));
        noise = std::max(noise, normal.misfit(theta) / freedom);
    }

    for (PowerSegment& segment : curve.segments) {
        segment.begin -= shift;
        segment.end -= shift;
    }
    BaseSeconds base(curve, design.drift);
    sweep_leaves(truth.leaves, base);
    base.operations.resize(kinds);
    std::vector<double> errors;
    for (std::uint32_t k = 0; k < kinds; ++k) {
        const double want = truth.energy[k].value;
        if (want <= 0.0) continue;
        const BaseSeconds::Of& of = base.operations[k];
        double energy = of.active * theta[columns.kind(k)];
        for (std::size_t m = 0; m < of.by_knot.size(); ++m)
            energy += of.by_knot[m] * (theta[0] + (columns.knots > 0 ? theta[columns.knot(m)] : 0.0));
        errors.push_back(std::abs(energy - want) / want);
    }
    std::sort(errors.begin(), errors.end());
    return errors.empty() ? 0.0 : errors[errors.size() / 2];
}

}  // namespace viridian::account
