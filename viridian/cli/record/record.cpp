// `viridian record -o DIR -- CMD...`: runs any program, writes power and process share beside it.
#include <algorithm>
#include <memory>

#include "viridian/base/json.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/meter/meter_paths.hpp"
#include "viridian/cli/record/program.hpp"
#include "viridian/cli/record/record_traces.hpp"
#include "viridian/cli/record/torch_traces.hpp"
#include "viridian/meter/curve/power_curve.hpp"
#include "viridian/meter/log/power_recording.hpp"
#include "viridian/meter/meters/list.hpp"

namespace viridian::cli {
namespace {

struct RecordOptions {
    std::string folder, meter;
    double period_ms = 4.0, seconds = 0.0;
    std::vector<std::string> command;
    Tracing tracing;
    bool json = false, force = false;
};

Result<std::vector<meter::Meter>> open_meters_record(const RecordOptions& options) {
    if (options.meter.empty()) return meter::open_all(meter_paths());
    VIRIDIAN_TRY(meter::Meter one, meter::open(options.meter, meter_paths()));
    return std::vector<meter::Meter>{std::move(one)};
}

std::optional<TimeLimit> time_limit(const RecordOptions& options) {
    if (options.seconds <= 0.0) return std::nullopt;
    // PyTorch's profiler may need minutes for what it recorded.
    return TimeLimit{Seconds(options.seconds), Seconds(options.tracing.torch ? 300.0 : 10.0),
                     [&options] { end_traces(options.tracing, options.folder); },
                     [&options] { return torch_processes(options.folder); },
                     [&options] { return torch_listeners(options.folder); }};
}

Json sampler_json(const meter::SamplerStats& stats) {
    Json out = Json::array();
    for (const auto& one : stats.meters)
        out.push_back({{"meter", one.name},
                       {"reads", one.reads},
                       {"failures", one.failures},
                       {"missed", one.missed},
                       {"period_ms", one.period.value * 1e3},
                       {"last_failure", one.last_failure}});
    return out;
}

// Makes the folder ready. Errors: invalid_argument if it holds a recording that may not be replaced.
Result<void> prepare_folder(const RecordOptions& options) {
    const Path folder = options.folder;
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    const auto holds = [&](const char* name) {
        return std::filesystem::exists(std::filesystem::symlink_status(folder / name, fault));
    };
    if (!holds("record.json") && !holds("power.csv")) return {};
    if (!options.force)
        return fail(ErrorCode::invalid_argument, "give another folder, or --force to replace it",
                    "the folder `{}` holds a recording", options.folder);
    for (const char* name : {"record.json", "power.csv"}) std::filesystem::remove(folder / name, fault);
    remove_traces(folder);
    return {};
}

struct Recorded {
    double seconds = 0.0;
    std::int64_t begin_ns = 0;  // Unix time
    int exit_code = 0;
    bool stopped = false;  // the program's time was up
    meter::SamplerStats stats;
    std::optional<Error> failed;  // the log could not be written to its end
};

// Runs the program while the meters and its process tree are sampled into the log `path`.
Result<Recorded> run_sampled(const RecordOptions& options, std::vector<meter::Meter> meters, const Path& path,
                             const std::vector<std::string>& environment) {
    VIRIDIAN_TRY(meter::PowerRecording recording,
                 meter::PowerRecording::start(path, std::move(meters), Seconds(options.period_ms * 1e-3)));
    const meter::Stamp begin = meter::stamp_now();
    recording.read_now();  // before its first instruction
    VIRIDIAN_TRY(const pid_t child, start_program(options.command, environment, options.json));
    recording.watch(child);
    Recorded out;
    out.stopped = wait_for_end(child, time_limit(options));
    recording.read_now();
    const meter::Stamp end = meter::stamp_now();
    meter::PowerRecording::Ended ended = recording.stop();
    out.stats = std::move(ended.stats);
    out.failed = std::move(ended.failed);
    const int ended_with = reap(child);
    out.exit_code = out.stopped ? 0 : ended_with;  // a program that we stopped has not failed
    out.begin_ns = begin.time_ns;
    out.seconds = 1e-9 * static_cast<double>(end.monotonic_ns - begin.monotonic_ns);
    return out;
}

// The joules of each device, read back from the log that was written.
void add_devices(const Path& path, Answer& answer) {
    if (!std::filesystem::is_regular_file(path)) return;  // /dev/full never ends
    const Result<meter::PowerLog> written = meter::read_power_log(path);
    if (!written.ok()) return;
    std::vector<meter::Channel> channels;
    for (const meter::Series& series : written->series) channels.push_back(series.channel);
    for (const std::uint32_t i : meter::counted(channels)) {
        const meter::PowerCurve curve = meter::curve_of(written->series[i]);
        const Joules total = meter::joules(curve.total);
        const Energy energy = with_model_error({total, total, total, channels[i].provenance()});
        const std::string source = energy.provenance.text();
        answer.json["devices"].push_back({{"device", channels[i].device},
                                          {"scope", name_of(channels[i].scope)},
                                          {"joules", energy.value.value},
                                          {"low", energy.low.value},
                                          {"high", energy.high.value},
                                          {"provenance", source}});
        const bool wide = energy.low < energy.high;
        answer.text +=
            fmt::format("{} {}: {:.6g} J{}, {:.4g} W ({})\n", channels[i].device, name_of(channels[i].scope),
                        energy.value.value,
                        wide ? fmt::format(" [{:.4g}, {:.4g}]", energy.low.value, energy.high.value) : "",
                        curve.mean_power().value, source);
    }
}

// What the timing of the modules' calls of one process took.
std::string cost_of_modules(const Json& trace, double run_seconds, bool several) {
    const auto modules = trace.find("modules");
    if (modules == trace.end() || modules->value("calls", 0.0) <= 0) return "";
    const double calls = modules->value("calls", 0.0), each = modules->value("nanoseconds_each", 0.0);
    const double seconds = 1e-9 * calls * each + modules->value("search_seconds", 0.0);
    return fmt::format(
        "{}{:.0f} calls of {:.0f} modules were timed: {:.2f} us each, with the search for their names "
        "{:.2g} % of the run\n",
        several ? process_label(trace) + ": " : "", calls, modules->value("names", 0.0), 1e-3 * each,
        100 * seconds / std::max(run_seconds, 1e-9));
}

Result<void> add_traces(const RecordOptions& options, bool stopped, Answer& answer) {
    std::vector<std::string> warnings;
    VIRIDIAN_TRY(answer.json["traces"], collect_traces(options.tracing, options.folder, stopped, warnings));
    for (const std::string& warning : warnings) answer.text += "warning: " + warning + "\n";
    answer.json["warnings"] = warnings;
    for (const Json& trace : answer.json["traces"])
        answer.text += cost_of_modules(trace, answer.json["seconds"], answer.json["traces"].size() > 1);
    for (const Json& trace : answer.json["traces"])
        answer.text += fmt::format("wrote {}\n", (Path(options.folder) / trace["file"]).string());
    return {};
}

Answer describe_recording(const RecordOptions& options, const Recorded& recorded, const Path& path) {
    Answer answer;
    const double cost = recorded.stats.cpu.value / recorded.seconds;
    answer.exit_code = recorded.exit_code;
    answer.json = {{"schema", "viridian.record/1"},
                   {"command", options.command},
                   {"exit_code", recorded.exit_code},
                   {"begin_ns", recorded.begin_ns},
                   {"seconds", recorded.seconds},
                   {"power", path.string()},
                   {"devices", Json::array()},
                   {"meters", sampler_json(recorded.stats)},
                   {"clock_steps", recorded.stats.clock_steps},
                   {"sampler_share_of_a_core", cost},
                   {"stopped", recorded.stopped}};
    answer.text = fmt::format(
        "{:.3f} s, {}, sampling took {:.2f} % of a core\n", recorded.seconds,
        recorded.stopped ? "then stopped" : fmt::format("exit code {}", recorded.exit_code), 100 * cost);
    add_devices(path, answer);
    for (const auto& one : recorded.stats.meters)
        if (one.failures > 0)
            answer.text += fmt::format("warning: {} failed {} of {} reads: {}\n", one.name, one.failures,
                                       one.reads, one.last_failure);
    return answer;
}

Result<Answer> run_record(const RecordOptions& options) {
    if (options.command.empty())
        return fail(ErrorCode::invalid_argument, "viridian record -o DIR -- CMD...",
                    "there is no command to record");
    VIRIDIAN_TRY(find_program(options.command));
    VIRIDIAN_TRY(std::vector<meter::Meter> meters, open_meters_record(options));
    const Path path = Path(options.folder) / "power.csv";
    VIRIDIAN_TRY(const std::vector<std::string> environment,
                 traced_environment(options.tracing, options.folder));
    VIRIDIAN_TRY(prepare_folder(options));
    VIRIDIAN_TRY(const Recorded recorded, run_sampled(options, std::move(meters), path, environment));

    Answer answer = describe_recording(options, recorded, path);
    VIRIDIAN_TRY(add_traces(options, recorded.stopped, answer));
    if (recorded.failed) {
        const Error& failed = *recorded.failed;
        answer.json["error"] = {{"message", failed.message}, {"next_step", failed.next_step}};
        answer.text += "warning: " + failed.text() + "\n";
        if (answer.exit_code == 0) answer.exit_code = failed.kind() == ErrorKind::user ? 1 : 2;
    } else {
        VIRIDIAN_TRY(write_file(Path(options.folder) / "record.json", json_dump(answer.json, 1) + "\n"));
    }
    answer.text += fmt::format("wrote {}\n", path.string());
    return answer;
}

}  // namespace

Command record_command() {
    return {
        "record", "Runs a program and records power and its share of the CPU beside it",
        "viridian record -o run1 -- python3 train.py", [](App app) {
            const auto options = std::make_shared<RecordOptions>();
            app.add_option("-o,--output", options->folder, "Folder for power.csv and record.json").required();
            app.add_option("--meter", options->meter, "One meter only (see `viridian doctor`)");
            app.add_option("--period", options->period_ms, "Milliseconds between readings")
                .capture_default_str()
                .check(in_range(0.1, 60'000.0));
            app.add_option("--seconds", options->seconds,
                           "Stop the program after so long and keep what was recorded")
                .check(positive_number());
            app.add_flag("--torch", options->tracing.torch,
                         "Trace the program and what it starts with PyTorch's profiler, on the same clock: "
                         "torch.json.gz, or a file for each rank");
            app.add_flag("--events", options->tracing.events,
                         "With --torch: time a GPU's operators by events, where CUPTI may not trace")
                .needs(app.get_option("--torch"));
            app.add_flag("--cupti", options->tracing.cupti,
                         "Trace the kernels of any CUDA program: kernels.vtrace");
            app.add_flag("--force", options->force, "Replace a recording that the folder holds");
            app.add_option("command", options->command, "The program and its arguments, after `--`")
                .required();
            app.positionals_at_end();
            return [options, app] {
                options->tracing.ends = options->seconds > 0.0;
                options->json = app.get_option("--json").count() > 0;
                return run_record(*options);
            };
        }};
}

}  // namespace viridian::cli
