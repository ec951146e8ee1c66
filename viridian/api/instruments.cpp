// Measuring, accounting and pipeline planning through the public interface.
#include "viridian/account/account.hpp"
#include "viridian/api/convert.hpp"
#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/meter/log/power_log.hpp"
#include "viridian/meter/measure.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/pipeline/make_result.hpp"
#include "viridian/pipeline/memory.hpp"
#include "viridian/pipeline/plan_json.hpp"
#include "viridian/pipeline/profile/profile_json.hpp"
#include "viridian/pipeline/schedules/schedules.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::api {
namespace {

Result<meter::Meter> open_meter(const std::string& name) {
    if (!name.empty()) return meter::open(name, {});
    VIRIDIAN_TRY(std::vector<meter::Meter> all, meter::open_all({}));
    return std::move(all.front());
}

Result<account::Accounting> account_files(const std::string& trace, const std::string& power) {
    VIRIDIAN_TRY(const std::unique_ptr<trace::Source> events, trace::open(trace));
    VIRIDIAN_TRY(const meter::PowerLog log, meter::read_power_log(power));
    VIRIDIAN_TRY(account::Accounting result, account::account(*events, log));
    result.trace = trace;
    result.power = power;
    return result;
}

Result<pipeline::PlanResult> plan(const std::string& file, const v1::PipelineOptions& options) {
    VIRIDIAN_TRY(const std::string text, read_file(file, std::uint64_t{1} << 28));
    VIRIDIAN_TRY(pipeline::Profile profile, pipeline::read_profile(text, file));
    if (options.wait_power >= 0)
        for (pipeline::StageProfile& stage : profile.stages) stage.wait = Watts(options.wait_power);
    VIRIDIAN_TRY(check_and_sort(profile));
    VIRIDIAN_TRY(const pipeline::PlannerRow planner, pipeline::find_planner(options.planner));
    VIRIDIAN_TRY(const pipeline::Schedule schedule,
                 pipeline::make_schedule(options.schedule, profile, {options.micro_batches, 0}));
    VIRIDIAN_TRY(const pipeline::Network network, make_network(schedule, profile));
    VIRIDIAN_TRY(check_memory(memory_of(schedule, profile)));
    const auto fastest = evaluate(network, fastest_durations(network)).makespan;
    const auto deadline = std::llround(static_cast<double>(fastest) * (1 + options.slowdown / 100));
    VIRIDIAN_TRY(const pipeline::PlannerAnswer answer,
                 planner.plan({schedule, profile, network}, {.deadline = deadline}));
    return make_plan_result({schedule, profile, network, options.planner, 0}, answer);
}

}  // namespace
}  // namespace viridian::api

namespace viridian::v1 {

Result<Measurement> measure(const std::function<void()>& work, const std::string& meter) {
    VIRIDIAN_API_TRY(const meter::Meter opened, api::open_meter(meter));
    VIRIDIAN_API_TRY(const meter::Measurement measured, meter::measure(opened, work));
    return Measurement{api::to_public(measured.energy), measured.seconds.value};
}

Result<std::string> account(const std::string& trace, const std::string& power) {
    VIRIDIAN_API_TRY(const account::Accounting result, api::account_files(trace, power));
    return to_json(result).dump(2);
}

Result<std::string> plan_pipeline(const std::string& profile, const PipelineOptions& options) {
    VIRIDIAN_API_TRY(const pipeline::PlanResult result, api::plan(profile, options));
    return to_json(result).dump(2);
}

std::string version() { return VIRIDIAN_VERSION; }

}  // namespace viridian::v1
