#include "viridian/cli/model/run_trace.hpp"

#include "viridian/account/account.hpp"
#include "viridian/account/products/timeline.hpp"
#include "viridian/cli/model/run_account.hpp"
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

// The energy of the operators; empty if the meters say nothing of these runs.
account::Accounting accounted(const trace::Collected& runs, const meter::PowerLog& log) {
    const auto source = trace::from_memory(runs.about, runs.events);
    Result<account::Accounting> result = account::account(*source, log);
    return result.ok() ? std::move(result).value() : account::Accounting();
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
    const std::size_t steps = std::max<std::size_t>(planned.plan.steps.size(), 1);
    trace::JsonExtras extras;
    extras.tracks = account::power_tracks(metered.power);
    extras.microjoules = account::microjoules_of(accounted(recorded, metered.power), recorded.about);
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
