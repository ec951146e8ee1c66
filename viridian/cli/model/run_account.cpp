#include "viridian/cli/model/run_account.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "viridian/account/account.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/account/account.hpp"
#include "viridian/cli/meter/meter_paths.hpp"
#include "viridian/meter/log/power_log.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/process_tree.hpp"
#include "viridian/meter/sampler.hpp"

namespace viridian::cli {
namespace {

constexpr double least_seconds = 2.0;
constexpr double most_events = 4e6;

}  // namespace

Result<MeteredRuns> metered_runs(const optimize::PlannedModel& planned,
                                 const std::vector<graph::Tensor>& inputs, int runs,
                                 const std::string& meter) {
    std::vector<meter::Meter> meters;
    if (meter.empty()) {
        VIRIDIAN_TRY(meters, meter::open_all(meter_paths()));
    } else {
        VIRIDIAN_TRY(meter::Meter one, meter::open(meter, meter_paths()));
        meters.push_back(std::move(one));
    }
    VIRIDIAN_TRY(const TemporaryFile log_file, TemporaryFile::make());
    VIRIDIAN_TRY(meter::PowerLogWriter writer, meter::PowerLogWriter::create(log_file.path()));
    for (const meter::Meter& one : meters)
        for (const meter::Channel& channel : one.channels)
            if (channel.wrap_uj > 0)
                VIRIDIAN_TRY(writer.note(fmt::format("wrap_uj {} {} {} {}", channel.meter, channel.device,
                                                     name_of(channel.scope), channel.wrap_uj)));
    if (Result<meter::Meter> tree = meter::open_process_tree(::getpid()); tree.ok())
        meters.push_back(std::move(*tree));
    Result<void> kept;
    std::unique_ptr<trace::Source> events;
    {
        meter::Sampler sampler(
            std::move(meters), {.period = Seconds(0.004), .max_share = 0.0045},
            [&](const std::vector<meter::Channel>& channels, std::span<const meter::Sample> samples) {
                if (kept.ok()) kept = writer.add(channels, samples);
            });
        sampler.read_now();
        Result<std::unique_ptr<trace::Source>> recorded = optimize::record_runs(planned, inputs, runs);
        sampler.stop();
        if (recorded.ok())
            events = std::move(recorded).value();
        else
            kept = recorded.error();
    }
    if (kept.ok()) kept = writer.flush();
    VIRIDIAN_TRY(std::move(kept));
    VIRIDIAN_TRY(meter::PowerLog power, meter::read_power_log(log_file.path()));
    return MeteredRuns{std::move(events), std::move(power)};
}

Result<Answer> account_runs(const optimize::PlannedModel& planned, const std::vector<graph::Tensor>& inputs,
                            double seconds, const std::string& meter, const std::string& file) {
    const double steps = static_cast<double>(std::max<std::size_t>(planned.plan.steps.size(), 1));
    const int runs = static_cast<int>(std::clamp(std::ceil(least_seconds / std::max(seconds, 1e-6)), 10.0,
                                                 std::max(10.0, most_events / steps)));
    VIRIDIAN_TRY(const MeteredRuns metered, metered_runs(planned, inputs, runs, meter));
    VIRIDIAN_TRY(account::Accounting result, account::account(*metered.events, metered.power));
    result.trace = counted(runs, "run");
    result.power = "this run";
    VIRIDIAN_TRY(Answer answer, account_answer(result, {}));
    VIRIDIAN_TRY(keep_answer(answer, file));
    return answer;
}

}  // namespace viridian::cli
