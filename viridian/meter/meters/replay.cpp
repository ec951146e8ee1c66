#include "viridian/meter/meters/replay.hpp"

#include "viridian/meter/meters/list.hpp"

namespace viridian::meter {
namespace {

struct ReplayState {
    PowerLog log;
    std::vector<std::size_t> next;
    std::int64_t log_begin = INT64_MAX;
    Stamp opened;
};

}  // namespace

Diagnosis probe_replay(const MeterPaths& paths) {
    if (paths.path_of("replay").empty())
        return {"replay", false, "no recorded log is named",
                "name a power log in the variable VIRIDIAN_REPLAY"};
    const Result<PowerLog> log = read_power_log(paths.path_of("replay"));
    if (!log.ok()) return {"replay", false, log.error().message, log.error().next_step};
    return {"replay", true,
            fmt::format("{} channels from `{}`", log->series.size(), paths.path_of("replay").string()), ""};
}

Meter replay(PowerLog log) {
    auto state = std::make_shared<ReplayState>();
    Meter meter{"replay", {}, {}};
    for (const Series& series : log.series) {
        meter.channels.push_back(series.channel);
        if (!series.readings.empty())
            state->log_begin = std::min(state->log_begin, series.readings.front().time_ns);
    }
    state->log = std::move(log);
    state->next.resize(state->log.series.size());
    state->opened = stamp_now();
    meter.read = [state](std::vector<Sample>& samples) -> Result<void> {
        const std::int64_t due = state->log_begin + stamp_now().monotonic_ns - state->opened.monotonic_ns;
        for (std::uint32_t i = 0; i < state->log.series.size(); ++i) {
            const std::vector<Reading>& readings = state->log.series[i].readings;
            for (std::size_t& next = state->next[i]; next < readings.size() && readings[next].time_ns <= due;
                 ++next) {
                const std::int64_t since = readings[next].time_ns - state->log_begin;
                samples.push_back({i, state->opened.time_ns + since, state->opened.monotonic_ns + since,
                                   readings[next].value, readings[next].window_ns});
            }
        }
        return {};
    };
    return meter;
}

Result<Meter> open_replay(const MeterPaths& paths) {
    if (paths.path_of("replay").empty())
        return fail(ErrorCode::invalid_argument, "name a power log in the variable VIRIDIAN_REPLAY",
                    "no recorded log is named");
    VIRIDIAN_TRY(PowerLog log, read_power_log(paths.path_of("replay")));
    return replay(std::move(log));
}

extern const Row replay_meter = {"replay", probe_replay, open_replay, Use::if_named};

}  // namespace viridian::meter
