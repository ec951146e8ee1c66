#include <cmath>
#include <functional>

#include "viridian/account/selftest/selftest.hpp"

#include "viridian/account/attribute/recency.hpp"
#include "viridian/account/deconvolve/deconvolve.hpp"
#include "viridian/account/selftest/error_floor.hpp"

namespace viridian::account {
namespace {

bool holds(Interval interval, Joules truth) {
    return joules(interval.low) <= truth && truth <= joules(interval.high);
}

Score judge(const SyntheticProgram& truth, const DeviceTruth& device, const Attribution& attribution,
            std::string sensor, std::string method) {
    Score score;
    score.sensor = std::move(sensor);
    score.method = std::move(method);
    std::vector<double> errors;
    std::size_t covered = 0;
    for (std::size_t kind = 0; kind < truth.energy.size(); ++kind) {
        const double want = truth.energy[kind].value;
        if (want <= 0.0) continue;
        const Share share = kind < attribution.shares.size() ? attribution.shares[kind] : Share{};
        errors.push_back(std::abs(joules(share.energy).value - want) / want);
        covered += joules(share.low).value <= want && want <= joules(share.high).value ? 1 : 0;
    }
    std::sort(errors.begin(), errors.end());
    score.median_error = errors[errors.size() / 2];
    score.p90_error = errors[std::min(errors.size() - 1, errors.size() * 9 / 10)];
    score.coverage = static_cast<double>(covered) / static_cast<double>(errors.size());
    score.imbalance_uj = 1e6 * joules(attribution.imbalance()).value;
    score.idle_held = holds(attribution.idle_interval, device.idle);
    score.unattributed_held = holds(attribution.unattributed_interval, device.unattributed);
    if (score.method == "deconvolve")
        score.residual_held =
            holds(attribution.residual_interval,
                  joules(attribution.meter_total) - device.active - device.idle - device.unattributed);
    return score;
}

}  // namespace

std::vector<Score> selftest(const Scenario& scenario, std::string_view only,
                            const std::function<void(std::string_view)>& progress) {
    const auto say = [&](std::string_view what) {
        if (progress) progress(what);
    };
    say("playing the program");
    const SyntheticProgram truth = synthesize(scenario);
    const auto operations = static_cast<std::uint32_t>(truth.energy.size());
    std::vector<Score> scores;
    for (const SensorModel& sensor : sensor_models()) {
        if (sensor.name.find(only) == std::string::npos) continue;
        say(sensor.name);
        const meter::Series series = measure(truth, sensor, scenario);
        const PowerCurve curve = curve_of(series);
        const auto shift = static_cast<Nanoseconds>(scenario.shift.value * 1e9);
        const DeviceTruth device = device_truth(truth, curve.begin() - shift, curve.end() - shift);
        {
            Recency recency(power_readings(curve), curve);
            sweep_leaves(truth.leaves, recency);
            scores.push_back(judge(truth, device, std::move(recency).finish(), sensor.name, "recency"));
        }
        Overlap overlap(curve);
        sweep_leaves(truth.leaves, overlap);
        const Attribution shares = std::move(overlap).finish();
        scores.push_back(judge(truth, device, shares, sensor.name, "overlap"));
        const Deconvolution fitted = deconvolve(truth.leaves, operations, curve, &series);
        Score score =
            judge(truth, device, fitted.trusted ? fitted.attribution : shares, sensor.name, "deconvolve");
        score.trusted = fitted.trusted;
        if (!fitted.trusted) score.residual_held.reset();
        score.shift = Seconds(1e-9 * fitted.sensor.shift_ns);
        score.shift_deviation = Seconds(1e-9 * fitted.sensor.shift_deviation_ns);
        score.window = Seconds(1e-9 * fitted.sensor.window_ns);
        score.error_floor = error_floor(truth, series, sensor, scenario);
        scores.push_back(score);
    }
    return scores;
}

std::vector<SeedSummary> spread(const std::vector<std::vector<Score>>& by_seed, Seconds true_shift) {
    std::vector<SeedSummary> out;
    if (by_seed.empty()) return out;
    const auto middle_and_worst = [](std::vector<double> values, double& middle, double& worst) {
        if (values.empty()) return;
        std::sort(values.begin(), values.end());
        middle = values[values.size() / 2];
        worst = values.back();
    };
    for (std::size_t i = 0; i < by_seed.front().size(); ++i) {
        SeedSummary one;
        one.sensor = by_seed.front()[i].sensor;
        one.method = by_seed.front()[i].method;
        std::vector<double> errors, misses, shifts, floors;
        for (const std::vector<Score>& scores : by_seed) {
            const Score& score = scores[i];
            ++one.seeds;
            errors.push_back(score.median_error);
            misses.push_back(1.0 - score.coverage);
            one.idle_held += score.idle_held ? 1 : 0;
            one.unattributed_held += score.unattributed_held ? 1 : 0;
            one.residuals += score.residual_held ? 1 : 0;
            one.residual_held += score.residual_held.value_or(false) ? 1 : 0;
            if (score.method != "deconvolve") continue;
            floors.push_back(score.error_floor);
            if (score.trusted)
                shifts.push_back(std::abs((score.shift - true_shift).value));
            else
                ++one.refused;
            for (const Score& other : scores)
                if (other.sensor == score.sensor && other.method == "overlap")
                    one.worse_than_overlap += score.median_error > other.median_error ? 1 : 0;
        }
        middle_and_worst(errors, one.median_error, one.worst_error);
        middle_and_worst(misses, one.median_coverage, one.worst_coverage);
        one.median_coverage = 1.0 - one.median_coverage;
        one.worst_coverage = 1.0 - one.worst_coverage;
        middle_and_worst(shifts, one.median_shift_error.value, one.worst_shift_error.value);
        middle_and_worst(floors, one.median_error_floor, one.worst_error_floor);
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace viridian::account
