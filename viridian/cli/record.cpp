// `viridian record -o DIR -- CMD...`: runs any program, writes power and process share beside it.
#include <algorithm>
#include <memory>

#include "viridian/account/steps.hpp"
#include "viridian/cli/commands.hpp"
#include "viridian/cli/places.hpp"
#include "viridian/cli/program.hpp"
#include "viridian/cli/record_traces.hpp"
#include "viridian/meter/list.hpp"
#include "viridian/meter/measure.hpp"
#include "viridian/meter/power_log.hpp"
#include "viridian/meter/proc_stat.hpp"
#include "viridian/meter/process_tree.hpp"
#include "viridian/meter/sampler.hpp"

namespace viridian::cli {
namespace {

struct Options {
    std::string folder, meter;
    double period_ms = 4.0, seconds = 0.0;
    std::vector<std::string> command;
    Tracing tracing;
    bool json = false;
};

class Log {
  public:
    explicit Log(meter::PowerLogWriter writer) : writer_(std::move(writer)) {}
    void add(const std::vector<meter::Channel>& channels, std::span<const meter::Sample> samples) {
        keep(writer_.add(channels, samples));
    }
    void note(std::string_view line) { keep(writer_.note(line)); }
    [[nodiscard]] std::optional<Error> finish() {
        keep(writer_.flush());
        return failed_;
    }

  private:
    void keep(const Result<void>& result) {
        if (!result.ok() && !failed_) failed_ = result.error();
    }
    meter::PowerLogWriter writer_;
    std::optional<Error> failed_;
};

Result<std::vector<meter::Meter>> open_meters(const Options& options) {
    if (options.meter.empty()) return meter::open_all(places());
    VIRIDIAN_TRY(meter::Meter one, meter::open(options.meter, places()));
    return std::vector<meter::Meter>{std::move(one)};
}

std::optional<TimeLimit> time_limit(const Options& options) {
    if (options.seconds <= 0.0) return std::nullopt;
    // PyTorch's profiler may need minutes for what it recorded.
    return TimeLimit{Seconds(options.seconds), Seconds(options.tracing.torch ? 300.0 : 10.0),
                     [&options] { end_traces(options.tracing, options.folder); }};
}

Json to_json(const meter::SamplerStats& stats) {
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

Result<Answer> run(const Options& options) {
    if (options.command.empty())
        return fail(ErrorCode::invalid_argument, "viridian record -o DIR -- CMD...",
                    "there is no command to record");
    VIRIDIAN_TRY(std::vector<meter::Meter> meters, open_meters(options));
    std::error_code fault;
    std::filesystem::create_directories(options.folder, fault);
    const Path path = Path(options.folder) / "power.csv";
    VIRIDIAN_TRY(const std::vector<std::string> environment,
                 traced_environment(options.tracing, options.folder));
    VIRIDIAN_TRY(meter::PowerLogWriter writer, meter::PowerLogWriter::create(path));
    Log log(std::move(writer));
    for (const meter::Meter& one : meters) {
        VIRIDIAN_TRY(const Seconds update, meter::measure_update(one, Seconds(0.1)));
        log.note(fmt::format("update_ns {} {}", one.name,
                             static_cast<std::int64_t>(std::max(update.value, one.shortest.value) * 1e9)));
        for (const meter::Channel& channel : one.channels)
            if (channel.wrap_uj > 0)
                log.note(fmt::format("wrap_uj {} {} {} {}", channel.meter, channel.device,
                                     name_of(channel.scope), channel.wrap_uj));
    }
    VIRIDIAN_TRY(const meter::CpuTimes times, meter::read_cpu_times("/"));
    const std::vector<int> packages = meter::cpu_packages("/", times.busy.size());
    for (std::size_t cpu = 0; cpu < packages.size(); ++cpu)
        log.note(fmt::format("cpu_package {} {}", cpu, packages[cpu]));

    const auto take = [&log](const std::vector<meter::Channel>& channels,
                             std::span<const meter::Sample> samples) { log.add(channels, samples); };
    const auto note = [&log](std::string_view line) { log.note(line); };
    const meter::Stamp begin = meter::stamp_now();
    meter::Sampler sampler(std::move(meters),
                           {.period = Seconds(options.period_ms * 1e-3), .max_share = 0.0045}, take, note);
    sampler.read_now();  // before its first instruction
    VIRIDIAN_TRY(const pid_t child, start_program(options.command, environment, options.json));
    std::uint64_t tree = 0;
    if (Result<meter::Meter> process = meter::open_process_tree(child); process.ok())
        tree = sampler.add(std::move(*process), take);
    const bool stopped = wait_for_end(child, time_limit(options));
    sampler.read_now();
    const meter::Stamp end = meter::stamp_now();
    sampler.remove(tree);
    const meter::SamplerStats stats = sampler.stop();
    const int ended_with = reap(child);
    const int code = stopped ? 0 : ended_with;  // it was to end
    const std::optional<Error> failed = log.finish();

    Answer answer;
    const double seconds = 1e-9 * static_cast<double>(end.monotonic_ns - begin.monotonic_ns);
    const double cost = stats.cpu.value / seconds;
    answer.exit_code = code;
    answer.json = {
        {"schema", "viridian.record/1"},   {"command", options.command}, {"exit_code", code},
        {"begin_ns", begin.time_ns},       {"seconds", seconds},         {"power", path.string()},
        {"devices", Json::array()},        {"meters", to_json(stats)},   {"clock_steps", stats.clock_steps},
        {"sampler_share_of_a_core", cost}, {"stopped", stopped}};
    answer.text = fmt::format("{:.3f} s, {}, sampling took {:.2f} % of a core\n", seconds,
                              stopped ? "then stopped" : fmt::format("exit code {}", code), 100 * cost);
    Result<meter::PowerLog> written =
        fail(ErrorCode::file_unreadable, "record into a folder", "`{}` is not a file", path.string());
    if (std::filesystem::is_regular_file(path))
        written = meter::read_power_log(path);  // /dev/full never ends
    if (written.ok()) {
        std::vector<meter::Channel> channels;
        for (const meter::Series& series : written->series) channels.push_back(series.channel);
        for (const std::uint32_t i : meter::counted(channels)) {
            const account::Steps steps = account::steps_of(written->series[i]);
            const std::string source = channels[i].provenance().text();
            answer.json["devices"].push_back({{"device", channels[i].device},
                                              {"scope", name_of(channels[i].scope)},
                                              {"joules", account::joules(steps.total).value},
                                              {"provenance", source}});
            answer.text += fmt::format("{} {}: {:.6g} J, {:.4g} W ({})\n", channels[i].device,
                                       name_of(channels[i].scope), account::joules(steps.total).value,
                                       steps.mean_power().value, source);
        }
    }
    for (const auto& one : stats.meters)
        if (one.failures > 0)
            answer.text += fmt::format("warning: {} failed {} of {} reads: {}\n", one.name, one.failures,
                                       one.reads, one.last_failure);
    std::vector<std::string> warnings;
    VIRIDIAN_TRY(answer.json["traces"], collect_traces(options.tracing, options.folder, warnings));
    for (const std::string& warning : warnings) answer.text += "warning: " + warning + "\n";
    answer.json["warnings"] = warnings;
    for (const Json& trace : answer.json["traces"])
        answer.text += fmt::format("wrote {}\n", (Path(options.folder) / trace["file"]).string());
    if (failed) {
        answer.json["error"] = {{"message", failed->message}, {"next_step", failed->next_step}};
        answer.text += "warning: " + failed->text() + "\n";
        if (answer.exit_code == 0) answer.exit_code = failed->kind() == ErrorKind::user ? 1 : 2;
    } else {
        VIRIDIAN_TRY(write_file(Path(options.folder) / "record.json", answer.json.dump(1) + "\n"));
    }
    answer.text += fmt::format("wrote {}\n", path.string());
    return answer;
}

}  // namespace

Command record_command() {
    return {"record", "Runs a program and records power and its share of the CPU beside it",
            "viridian record -o run1 -- python3 train.py", [](CLI::App& app) {
                const auto options = std::make_shared<Options>();
                app.add_option("-o,--output", options->folder, "Folder for power.csv and record.json")
                    ->required();
                app.add_option("--meter", options->meter, "One meter only (see `viridian doctor`)");
                app.add_option("--period", options->period_ms, "Milliseconds between readings")
                    ->capture_default_str()
                    ->check(CLI::Range(0.1, 60'000.0));
                app.add_option("--seconds", options->seconds,
                               "Stop the program after so long and keep what was recorded")
                    ->check(CLI::PositiveNumber);
                app.add_flag("--torch", options->tracing.torch,
                             "Trace the program with PyTorch's profiler, on the same clock: torch.json.gz");
                app.add_flag("--events", options->tracing.events,
                             "With --torch: time a GPU's operators by events, where CUPTI may not trace")
                    ->needs("--torch");
                app.add_flag("--cupti", options->tracing.cupti,
                             "Trace the kernels of any CUDA program: kernels.vtrace");
                app.add_option("command", options->command, "The program and its arguments, after `--`")
                    ->required();
                app.positionals_at_end();
                return [options, &app] {
                    options->tracing.ends = options->seconds > 0.0;
                    options->json = app.get_option("--json")->count() > 0;
                    return run(*options);
                };
            }};
}

}  // namespace viridian::cli
