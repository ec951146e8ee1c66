// `viridian account selftest`
#include <memory>

#include "viridian/account/selftest.hpp"
#include "viridian/cli/account.hpp"
#include "viridian/cli/progress.hpp"

namespace viridian::cli {
namespace {

struct Options {
    std::string scenario = "both";
    double seconds = 0.0, dropped = 0.0, shift_ms = -1e9;
    std::uint64_t seed = 1;
};

Json to_json(const account::Score& score) {
    return {{"sensor", score.sensor},
            {"method", score.method},
            {"median_error", score.median_error},
            {"p90_error", score.p90_error},
            {"coverage", score.coverage},
            {"trusted", score.trusted},
            {"shift_ns", score.shift.value * 1e9},
            {"shift_deviation_ns", score.shift_deviation.value * 1e9},
            {"window_ns", score.window.value * 1e9},
            {"imbalance_uj", score.imbalance_uj}};
}

void play(account::Scenario scenario, const Options& options, Answer& answer) {
    scenario.seed = options.seed;
    scenario.dropped = options.dropped;
    if (options.seconds > 0.0) scenario.duration = Seconds(options.seconds);
    if (options.shift_ms > -1e8) scenario.shift = Seconds(options.shift_ms * 1e-3);
    Progress progress;
    const auto scores = account::selftest(
        scenario, [&](std::string_view what) { progress.show(fmt::format("{}: {}", scenario.name, what)); });
    Json list = Json::array();
    answer.text += fmt::format(
        "{}: {} kinds of operations, {:.0f} s, {} stream{}, noise {:.3g} W, jitter {:.3g} %, drift {:.3g} W, "
        "shift {:.3g} ms, seed {}\n",
        scenario.name, scenario.kinds, scenario.duration.value, scenario.streams,
        scenario.streams > 1 ? "s" : "", scenario.noise.value, 100 * scenario.power_jitter,
        scenario.drift.value, scenario.shift.value * 1e3, scenario.seed);
    answer.text += fmt::format("  {:<14} {:<11} {:>8} {:>8} {:>9}  {}\n", "sensor", "method", "median", "p90",
                               "coverage", "found");
    for (const account::Score& score : scores) {
        list.push_back(to_json(score));
        std::string found;
        if (score.method == "deconvolve")
            found = score.trusted
                        ? fmt::format("shift {:.4f} ± {:.4f} ms, window {:.3f} ms", score.shift.value * 1e3,
                                      score.shift_deviation.value * 1e3, score.window.value * 1e3)
                        : "refused by its gate: overlap";
        answer.text +=
            fmt::format("  {:<14} {:<11} {:>6.2f} % {:>6.2f} % {:>7.1f} %  {}\n", score.sensor, score.method,
                        100 * score.median_error, 100 * score.p90_error, 100 * score.coverage, found);
    }
    answer.json["scenarios"].push_back({{"name", scenario.name},
                                        {"seconds", scenario.duration.value},
                                        {"seed", scenario.seed},
                                        {"shift_ns", scenario.shift.value * 1e9},
                                        {"scores", list}});
}

Result<Answer> run(const Options& options) {
    if (options.scenario != "calm" && options.scenario != "rough" && options.scenario != "both")
        return fail(ErrorCode::invalid_argument, "choose calm, rough or both", "there is no scenario `{}`",
                    options.scenario);
    Answer answer;
    answer.json = {{"schema", "viridian.selftest/1"}, {"scenarios", Json::array()}};
    if (options.scenario != "rough") play(account::calm(), options, answer);
    if (options.scenario != "calm") play(account::rough(), options, answer);
    answer.text +=
        "errors are of each kind's joules against the truth; recency gives no interval; overlap's interval "
        "is a bound\n";
    return answer;
}

}  // namespace

AccountAction define_account_selftest(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option("--scenario", options->scenario, "calm, rough or both")->capture_default_str();
    app.add_option("--seconds", options->seconds, "Length of the run instead of 60 (calm) and 300 (rough)");
    app.add_option("--seed", options->seed, "Another program of the same kind")->capture_default_str();
    app.add_option("--dropped", options->dropped, "Part of the events that the trace loses")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 0.9));
    app.add_option("--shift", options->shift_ms, "The sensor's true shift, milliseconds");
    return [options] { return run(*options); };
}

}  // namespace viridian::cli
