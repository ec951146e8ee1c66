// `viridian account selftest`
#include <algorithm>
#include <memory>

#include "viridian/account/selftest/selftest.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/account/account.hpp"
#include "viridian/cli/progress.hpp"

namespace viridian::cli {
namespace {

struct AccountSelftestOptions {
    std::string scenario = "all";
    double seconds = 0.0, dropped = 0.0, shift_ms = -1e9;
    std::uint64_t seed = 1, seeds = 1;
    std::string sensor;
};

Json to_json(const account::Score& score) {
    return {{"sensor", score.sensor},
            {"method", score.method},
            {"median_error", score.median_error},
            {"p90_error", score.p90_error},
            {"coverage", score.coverage},
            {"idle_held", score.idle_held},
            {"unattributed_held", score.unattributed_held},
            {"residual_held", score.residual_held ? Json(*score.residual_held) : Json()},
            {"trusted", score.trusted},
            {"shift_ns", score.shift.value * 1e9},
            {"shift_deviation_ns", score.shift_deviation.value * 1e9},
            {"window_ns", score.window.value * 1e9},
            {"imbalance_uj", score.imbalance_uj},
            {"floor", score.error_floor}};
}

// The figures of the device whose interval holds the truth, of those for which there is a truth.
std::string books(const account::Score& score) {
    const int held = (score.idle_held ? 1 : 0) + (score.unattributed_held ? 1 : 0) +
                     (score.residual_held.value_or(false) ? 1 : 0);
    return fmt::format("{} of {}", held, score.residual_held ? 3 : 2);
}

std::string description(const account::Scenario& scenario) {
    std::string text = fmt::format(
        "{}: {} kinds of operations, {:.0f} s, {}, noise {:.3g} W, jitter {:.3g} %, drift {:.3g} W, "
        "shift {:.3g} ms, seed {}\n",
        scenario.name, scenario.kinds, scenario.duration.value, counted(scenario.streams, "stream"),
        scenario.noise.value, 100 * scenario.power_jitter, scenario.drift.value, scenario.shift.value * 1e3,
        scenario.seed);
    if (scenario.long_kinds > 0)
        text += fmt::format(
            "  {} kinds last 5 to 50 ms, ramps of ± {:.3g} %, heat {:.3g} W, clock down to {:.3g} %\n",
            scenario.long_kinds, 100 * scenario.ramp, scenario.heat.value, 100 * (1 - scenario.governor));
    return text;
}

std::vector<account::Score> judge(const account::Scenario& scenario, const AccountSelftestOptions& options,
                                  Progress& progress) {
    return account::selftest(scenario, options.sensor, [&](std::string_view what) {
        progress.show(fmt::format("{}, seed {}: {}", scenario.name, scenario.seed, what));
    });
}

void play(const account::Scenario& scenario, const AccountSelftestOptions& options, Answer& answer) {
    Progress progress;
    const auto scores = judge(scenario, options, progress);
    Json list = Json::array();
    answer.text += description(scenario);
    answer.text += fmt::format("  {:<14} {:<11} {:>8} {:>8} {:>9} {:>7}  {}\n", "sensor", "method", "median",
                               "p90", "coverage", "device", "found");
    for (const account::Score& score : scores) {
        list.push_back(to_json(score));
        std::string found;
        if (score.method == "deconvolve")
            found = score.trusted
                        ? fmt::format("shift {:.4f} ± {:.4f} ms, window {:.3f} ms", score.shift.value * 1e3,
                                      score.shift_deviation.value * 1e3, score.window.value * 1e3)
                        : "refused by its gate: overlap";
        answer.text += fmt::format("  {:<14} {:<11} {:>6.2f} % {:>6.2f} % {:>7.1f} % {:>7}  {}\n",
                                   score.sensor, score.method, 100 * score.median_error,
                                   100 * score.p90_error, 100 * score.coverage, books(score), found);
    }
    answer.json["scenarios"].push_back({{"name", scenario.name},
                                        {"seconds", scenario.duration.value},
                                        {"seed", scenario.seed},
                                        {"shift_ns", scenario.shift.value * 1e9},
                                        {"scores", list}});
}

void play_seeds(account::Scenario scenario, const AccountSelftestOptions& options, Answer& answer) {
    Progress progress;
    std::vector<std::vector<account::Score>> by_seed;
    for (std::uint64_t i = 0; i < options.seeds; ++i) {
        scenario.seed = options.seed + i;
        by_seed.push_back(judge(scenario, options, progress));
    }
    answer.text += fmt::format("{}: seeds {} to {}; of each seed's median error: median and worst\n",
                               scenario.name, options.seed, options.seed + options.seeds - 1);
    answer.text += fmt::format("  {:<14} {:<11} {:>9} {:>9} {:>15} {:>14} {:>19} {:>8} {:>9} {:>17}\n",
                               "sensor", "method", "median", "worst", "coverage, worst", "idle/un./resid.",
                               "shift off, worst ms", "refused", "> overlap", "floor, worst");
    Json list = Json::array();
    for (const account::SeedSummary& one : account::spread(by_seed, scenario.shift)) {
        list.push_back({{"sensor", one.sensor},
                        {"method", one.method},
                        {"median_error", one.median_error},
                        {"worst_error", one.worst_error},
                        {"median_coverage", one.median_coverage},
                        {"worst_coverage", one.worst_coverage},
                        {"idle_held", one.idle_held},
                        {"unattributed_held", one.unattributed_held},
                        {"residual_held", one.residual_held},
                        {"residuals", one.residuals},
                        {"median_shift_error_ns", one.median_shift_error.value * 1e9},
                        {"worst_shift_error_ns", one.worst_shift_error.value * 1e9},
                        {"refused", one.refused},
                        {"worse_than_overlap", one.worse_than_overlap},
                        {"median_floor", one.median_error_floor},
                        {"worst_floor", one.worst_error_floor}});
        const bool fit = one.method == "deconvolve";
        answer.text += fmt::format(
            "  {:<14} {:<11} {:>7.2f} % {:>7.2f} % {:>6.1f} {:>6.1f} % {:>14} {:>19} {:>8} {:>9} {:>17}\n",
            one.sensor, one.method, 100 * one.median_error, 100 * one.worst_error, 100 * one.median_coverage,
            100 * one.worst_coverage,
            fmt::format("{} {} {}", one.idle_held, one.unattributed_held,
                        fit ? fmt::format("{}/{}", one.residual_held, one.residuals) : "-"),
            fit ? fmt::format("{:.4f} {:.4f}", one.median_shift_error.value * 1e3,
                              one.worst_shift_error.value * 1e3)
                : "",
            fit ? fmt::format("{}", one.refused) : "", fit ? fmt::format("{}", one.worse_than_overlap) : "",
            fit ? fmt::format("{:.2f} {:.2f} %", 100 * one.median_error_floor, 100 * one.worst_error_floor)
                : "");
    }
    Json seeds = Json::array();
    for (std::size_t i = 0; i < by_seed.size(); ++i) {
        Json scores = Json::array();
        for (const account::Score& score : by_seed[i]) scores.push_back(to_json(score));
        seeds.push_back({{"seed", options.seed + i}, {"scores", scores}});
    }
    answer.json["scenarios"].push_back({{"name", scenario.name}, {"spread", list}, {"seeds", seeds}});
}

Result<Answer> run_account_selftest(const AccountSelftestOptions& options) {
    const std::vector<account::Scenario> scenarios = {account::calm(), account::rough(),
                                                      account::unmodelled()};
    if (options.scenario != "all" &&
        std::none_of(scenarios.begin(), scenarios.end(),
                     [&](const account::Scenario& one) { return one.name == options.scenario; }))
        return fail(ErrorCode::invalid_argument, "choose calm, rough, unmodelled or all",
                    "there is no scenario `{}`", options.scenario);
    const auto sensors = account::sensor_models();
    if (std::none_of(sensors.begin(), sensors.end(), [&](const account::SensorModel& sensor) {
            return sensor.name.find(options.sensor) != std::string::npos;
        }))
        return fail(
            ErrorCode::invalid_argument,
            "choose of `1 ms counter`, `4 ms counter`, `20 ms counter`, `25 of 100 ms`, `100 ms mean`",
            "no sensor has `{}` in its name", options.sensor);
    Answer answer;
    answer.json = {{"schema", "viridian.selftest/1"}, {"scenarios", Json::array()}};
    for (account::Scenario scenario : scenarios) {
        if (options.scenario != "all" && options.scenario != scenario.name) continue;
        scenario.seed = options.seed;
        scenario.dropped = options.dropped;
        if (options.seconds > 0.0) scenario.duration = Seconds(options.seconds);
        if (options.shift_ms > -1e8) scenario.shift = Seconds(options.shift_ms * 1e-3);
        if (options.seeds > 1)
            play_seeds(scenario, options, answer);
        else
            play(scenario, options, answer);
    }
    answer.text +=
        "errors are of each kind's joules against the truth; intervals of recency and overlap are bounds;\n"
        "device: of idle, unattributed and residual, how many intervals hold the truth\n";
    if (options.seeds > 1)
        answer.text +=
            "floor: who is told the sensor, the noise and what watts are drawn from; the rest is not in the "
            "readings\n";
    return answer;
}

}  // namespace

Action define_account_selftest(App app) {
    const auto options = std::make_shared<AccountSelftestOptions>();
    app.add_option("--scenario", options->scenario, "calm, rough, unmodelled or all").capture_default_str();
    app.add_option("--seconds", options->seconds,
                   "Length of the run instead of 60 (calm), 300 (rough) and 120 (unmodelled)");
    app.add_option("--seed", options->seed, "Another program of the same kind").capture_default_str();
    app.add_option("--seeds", options->seeds, "Programs: seed, seed + 1, ...: prints median and worst")
        .capture_default_str()
        .check(in_range(1, 10'000));
    app.add_option("--sensor", options->sensor,
                   "Only sensors with this in their name, as `4 ms` or `25 of 100`");
    app.add_option("--dropped", options->dropped, "Part of the events that the trace loses")
        .capture_default_str()
        .check(in_range(0.0, 0.9));
    app.add_option("--shift", options->shift_ms, "The sensor's true shift, milliseconds");
    return [options] { return run_account_selftest(*options); };
}

}  // namespace viridian::cli
