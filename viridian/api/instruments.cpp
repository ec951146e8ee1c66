// Measuring, accounting and pipeline planning through the public interface.
#include <optional>
#include <span>
#include <utility>

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
#include "viridian/pipeline/planners/switching.hpp"
#include "viridian/pipeline/profile/profile_json.hpp"
#include "viridian/pipeline/schedules/schedules.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::api {
namespace {

// One meter of every kind of device, or the one called `name`.
Result<std::vector<meter::Meter>> open_meters(const std::string& name) {
    if (name.empty()) return meter::open_all({});
    VIRIDIAN_TRY(meter::Meter one, meter::open(name, {}));
    return std::vector{std::move(one)};
}

// Measures `work` by all of `meters` at once, each around the next, and adds their joules. Meters that fail
// are left out if another one gives a number.
Result<meter::Measurement> measure(std::span<const meter::Meter> meters, const std::function<void()>& work) {
    bool ran = false;
    const auto once = [&] {
        if (!std::exchange(ran, true)) work();
    };
    std::optional<Result<meter::Measurement>> inside;
    auto outside = meter::measure(meters.front(), [&] {
        if (meters.size() > 1) inside = measure(meters.subspan(1), once);
        once();
    });
    if (!ran && meters.size() > 1) return measure(meters.subspan(1), work);
    if (!inside || !inside->ok()) return outside;
    if (!outside.ok()) return *std::move(inside);
    meter::Measurement sum = *outside;
    sum.energy += (*inside)->energy;
    sum.energy.provenance.source =
        outside->energy.provenance.source + "+" + (*inside)->energy.provenance.source;
    return sum;
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
    if (!(options.slowdown >= 0 && options.slowdown <= 1e6))
        return fail(ErrorCode::invalid_argument, "give percent from 0 on", "the slowdown is {}",
                    options.slowdown);
    if (options.wait_power >= 0)
        for (pipeline::StageProfile& stage : profile.stages) stage.wait = Watts(options.wait_power);
    VIRIDIAN_TRY(check_and_sort(profile));
    VIRIDIAN_TRY(const pipeline::PlannerRow planner, pipeline::find_planner(options.planner));
    VIRIDIAN_TRY(const pipeline::Schedule schedule,
                 pipeline::make_schedule(options.schedule, profile, {options.micro_batches, options.chunks}));
    VIRIDIAN_TRY(const pipeline::Network network, make_network(schedule, profile));
    VIRIDIAN_TRY(check_memory(memory_of(schedule, profile)));
    const auto fastest = evaluate(network, fastest_durations(network)).makespan;
    const auto deadline = std::llround(static_cast<double>(fastest) * (1 + options.slowdown / 100));
    VIRIDIAN_TRY(pipeline::PlannerAnswer answer,
                 planner.plan({schedule, profile, network}, {.deadline = deadline}));
    const std::string note = price_switches(profile, network, answer);
    pipeline::PlanResult result = make_plan_result({schedule, profile, network, options.planner, 0}, answer);
    add_switch_energy(profile, result);
    if (!note.empty()) result.notes.push_back(note);
    return result;
}

}  // namespace
}  // namespace viridian::api

namespace viridian::v1 {

Result<Measurement> measure(const std::function<void()>& work, const std::string& meter) {
    return api::answer([&]() -> viridian::Result<Measurement> {
        VIRIDIAN_TRY(const std::vector<meter::Meter> meters, api::open_meters(meter));
        VIRIDIAN_TRY(const meter::Measurement measured, api::measure(meters, work));
        return Measurement{api::to_public(measured.energy), measured.seconds.value};
    });
}

Result<std::string> account(const std::string& trace, const std::string& power) {
    return api::answer([&]() -> viridian::Result<std::string> {
        VIRIDIAN_TRY(const account::Accounting result, api::account_files(trace, power));
        return json_dump(to_json(result), 2);
    });
}

Result<std::string> plan_pipeline(const std::string& profile, const PipelineOptions& options) {
    return api::answer([&]() -> viridian::Result<std::string> {
        VIRIDIAN_TRY(const pipeline::PlanResult result, api::plan(profile, options));
        return json_dump(to_json(result), 2);
    });
}

std::string version() { return VIRIDIAN_VERSION; }

}  // namespace viridian::v1
