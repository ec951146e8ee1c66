#include "viridian/cli/model/run_trace.hpp"

#include <map>

#include "viridian/account/account.hpp"
#include "viridian/cli/model/run_account.hpp"
#include "viridian/meter/curve/power_curve.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/trace/write/output_format.hpp"
#include "viridian/trace/write/write.hpp"

namespace viridian::cli {
namespace {

using StepArguments = std::vector<std::pair<std::string, std::string>>;

// What a plan says of its step: "nChw16c:f32" for each output.
StepArguments arguments_of(const plan::Step& step) {
    StepArguments out;
    if (step.kind == plan::Step::Kind::conversion) return {{"step", "conversion"}};
    out.emplace_back("kernel", step.choice.kernel);
    std::string formats;
    for (const plan::Format& format : step.choice.outputs)
        formats += (formats.empty() ? "" : " ") + text(format);
    out.emplace_back("layout", formats);
    return out;
}

// The power that counts, of each device.
std::vector<trace::CounterTrack> power_tracks(const meter::PowerLog& log) {
    std::vector<meter::Channel> channels;
    for (const meter::Series& series : log.series) channels.push_back(series.channel);
    std::vector<trace::CounterTrack> tracks;
    for (const std::uint32_t i : meter::counted(channels)) {
        trace::CounterTrack track{fmt::format("{} {} power ({})", channels[i].device,
                                              name_of(channels[i].scope), channels[i].provenance().text()),
                                  "W",
                                  {}};
        for (const meter::PowerSegment& segment : meter::curve_of(log.series[i]).segments)
            if (segment.end > segment.begin && !segment.gap)
                track.points.emplace_back(segment.begin,
                                          1e9 * meter::joules(segment.energy).value /
                                              static_cast<double>(segment.end - segment.begin));
        tracks.push_back(std::move(track));
    }
    return tracks;
}

// Microjoules of one instance of each operation, by its qualified name.
std::map<std::string, double> microjoules_of(const trace::Collected& runs, const meter::PowerLog& log) {
    std::map<std::string, double> out;
    const auto source = trace::from_memory(runs.about, runs.events);
    const Result<account::Accounting> accounted = account::account(*source, log);
    if (!accounted.ok()) return out;
    for (const account::Operation& operation : accounted->operations)
        if (operation.energy && operation.count > 0)
            out[operation.name] += 1e6 * operation.energy->value.value / static_cast<double>(operation.count);
    return out;
}

}  // namespace

Result<void> write_run_trace(const optimize::PlannedModel& planned, const std::vector<graph::Tensor>& inputs,
                             int runs, const std::string& meter, const std::string& file) {
    VIRIDIAN_TRY(const trace::OutputFormat format, trace::format_of_name(file));
    if (format != trace::OutputFormat::json) {
        VIRIDIAN_TRY(const auto events, optimize::record_runs(planned, inputs, runs));
        return trace::write_as(*events, file, format);
    }
    VIRIDIAN_TRY(const MeteredRuns metered, metered_runs(planned, inputs, runs, meter));
    VIRIDIAN_TRY(const trace::Collected recorded, trace::collect(*metered.events));
    const std::map<std::string, double> energies = microjoules_of(recorded, metered.power);
    const std::size_t steps = std::max<std::size_t>(planned.plan.steps.size(), 1);
    trace::JsonExtras extras;
    extras.tracks = power_tracks(metered.power);
    extras.microjoules = [&](const trace::Event& event) {
        const auto found = energies.find(recorded.about.qualified(event.path));
        return found == energies.end() ? -1.0 : found->second;
    };
    extras.arguments = [&](const trace::Event& event) {
        const std::size_t step = (event.instance - 1) % steps;
        return step < planned.plan.steps.size() ? arguments_of(planned.plan.steps[step]) : StepArguments();
    };
    VIRIDIAN_TRY(std::unique_ptr<trace::Out> out, trace::open_out(file));
    const auto sink = trace::json_sink(std::move(out), std::move(extras));
    const auto source = trace::from_memory(recorded.about, recorded.events);
    return trace::copy(*source, *sink);
}

}  // namespace viridian::cli
