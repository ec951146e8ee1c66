// `viridian meter probe | identify`: what a meter really says: how often, over which window, how late.
#include <memory>

#include "viridian/base/json.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/interrupt.hpp"
#include "viridian/cli/meter/meter_page.hpp"
#include "viridian/cli/meter/meter_paths.hpp"
#include "viridian/cli/subcommands.hpp"
#include "viridian/meter/characterise/probe.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/meters/nvml.hpp"

namespace viridian::cli {
namespace {

struct ProbeArguments {
    std::string meter = "nvml", output;
    double seconds = 60.0, pause_ms = 0.5;
};

Result<Answer> probe(const ProbeArguments& arguments) {
    std::vector<meter::Meter> meters;
    if (arguments.meter == "nvml") {
        VIRIDIAN_TRY(meters, meter::open_nvml_fields(meter_paths()));
    } else {
        VIRIDIAN_TRY(meter::Meter one, meter::open(arguments.meter, meter_paths()));
        meters.push_back(std::move(one));
    }
    const Interrupt interrupt;
    VIRIDIAN_TRY(const meter::ProbeLog log,
                 meter::probe(meters, {Seconds(arguments.seconds), Seconds(arguments.pause_ms * 1e-3),
                                       [&] { return interrupt.asked(); }}));
    VIRIDIAN_TRY(write_file(arguments.output, meter::text_of(log)));
    Answer answer;
    answer.json = {
        {"schema", "viridian.meter-probe/1"}, {"log", arguments.output}, {"fields", Json::array()}};
    for (const meter::ProbeField& field : log.fields) {
        answer.json["fields"].push_back({{"field", field.channel.meter},
                                         {"device", field.channel.device},
                                         {"reads", field.reads},
                                         {"changes", field.readings.size()},
                                         {"cost_us", 1e-3 * static_cast<double>(field.cost_ns)}});
        answer.text += fmt::format("{:<22} {:<8} {:>9} reads {:>8} changes {:>9.1f} us a read\n",
                                   field.channel.meter, field.channel.device, field.reads,
                                   field.readings.size(), 1e-3 * static_cast<double>(field.cost_ns));
    }
    answer.text += fmt::format("wrote {}\n", arguments.output);
    return answer;
}

struct IdentifyArguments {
    std::string log, load, page, title;
};

Result<Answer> identify(const IdentifyArguments& arguments) {
    VIRIDIAN_TRY(const std::string log_text, read_file(arguments.log));
    VIRIDIAN_TRY(const meter::ProbeLog log, meter::parse_probe_log(log_text, arguments.log));
    VIRIDIAN_TRY(const std::string load_text, read_file(arguments.load));
    VIRIDIAN_TRY(const std::vector<meter::LoadStep> load, meter::parse_load(load_text, arguments.load));
    VIRIDIAN_TRY(const std::vector<meter::FieldCharacter> fields, meter::characterise(log, load));
    Answer answer;
    answer.json = {{"schema", "viridian.meter/1"}, {"fields", Json::array()}};
    for (const meter::FieldCharacter& field : fields) answer.json["fields"].push_back(to_json(field));
    answer.text = table_of(fields);
    if (!arguments.page.empty()) {
        VIRIDIAN_TRY(write_meter_page(arguments.page, arguments.title, log, load, fields));
        answer.text += fmt::format("wrote {}\n", arguments.page);
    }
    return answer;
}

Action define_probe(App app) {
    const auto arguments = std::make_shared<ProbeArguments>();
    app.add_option("-o,--output", arguments->output, "The log to write").required();
    app.add_option("--meter", arguments->meter, "Which meter (nvml: each of its fields apart)")
        .capture_default_str();
    app.add_option("--seconds", arguments->seconds, "Seconds to read for; Ctrl-C ends it earlier")
        .capture_default_str()
        .check(in_range(0.1, 3600.0));
    app.add_option("--pause", arguments->pause_ms, "Milliseconds between rounds")
        .capture_default_str()
        .check(in_range(0.0, 1000.0));
    return [arguments] { return probe(*arguments); };
}

Action define_identify(App app) {
    const auto arguments = std::make_shared<IdentifyArguments>();
    app.add_option("LOG", arguments->log, "From `meter probe`").required();
    app.add_option("--load", arguments->load, "When the load changed: CSV `time_ns,load`, 0 to 1").required();
    app.add_option("-o,--output", arguments->page, "A page (.md) with plots (.svg) beside it");
    app.add_option("--title", arguments->title, "Title of the page");
    return [arguments] { return identify(*arguments); };
}

}  // namespace

Command meter_command() {
    return {
        "meter", "What a meter really says: update period, averaging window, lag, cost",
        "viridian meter probe -o probe.csv --seconds 60\n"
        "  viridian meter identify probe.csv --load load.csv -o gpu.md",
        [](App app) {
            return choose(
                app,
                {{"probe", "Reads it as fast as it answers; writes when values changed", "", define_probe},
                 {"identify", "Finds period, window and lag from a probe taken under a stepping load", "",
                  define_identify}});
        }};
}

}  // namespace viridian::cli
