// `viridian account overhead -- CMD...`: SMARAGDINE §5.4.3. The program runs with and without what
// `viridian record` does beside it (all meters and the process tree sampled, a power log written), in turns;
// its time, and its energy by one meter read at both ends, are compared.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>

#include "viridian/account/products/repeated_runs.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cli/account/account.hpp"
#include "viridian/cli/meter/meter_paths.hpp"
#include "viridian/cli/progress.hpp"
#include "viridian/meter/log/power_log.hpp"
#include "viridian/meter/measure.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/process_tree.hpp"
#include "viridian/meter/sampler.hpp"

extern char** environ;

namespace viridian::cli {
namespace {

struct AccountOverheadOptions {
    std::string meter, output;
    int runs = 5;
    double period_ms = 4.0;
    std::vector<std::string> command;
};

// What `record` does meanwhile.
class Recording {
  public:
    Recording(std::vector<meter::Meter> meters, meter::PowerLogWriter writer, Seconds period)
        : writer_(std::move(writer)),
          sampler_(std::move(meters), {.period = period, .max_share = 0.0045},
                   [this](const std::vector<meter::Channel>& channels,
                          std::span<const meter::Sample> samples) { keep(writer_.add(channels, samples)); }) {
    }
    void follow(pid_t child) {
        if (Result<meter::Meter> tree = meter::open_process_tree(child); tree.ok())
            sampler_.add(std::move(*tree), [this](const std::vector<meter::Channel>& channels,
                                                  std::span<const meter::Sample> samples) {
                keep(writer_.add(channels, samples));
            });
    }
    [[nodiscard]] Result<void> finish() {
        sampler_.stop();
        keep(writer_.flush());
        return failed_;
    }

  private:
    void keep(Result<void> result) {
        if (!result.ok() && failed_.ok()) failed_ = std::move(result);
    }
    meter::PowerLogWriter writer_;
    Result<void> failed_;
    meter::Sampler sampler_;  // last: its thread uses the rest
};

// The exit code of a program whose output goes nowhere.
Result<int> start_and_wait(const std::vector<std::string>& words, Recording* recording) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
    pid_t child = 0;
    const int fault = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (fault != 0)
        return fail(ErrorCode::invalid_argument, "check the command after `--`", "`{}` cannot be started: {}",
                    words[0], std::strerror(fault));
    if (recording != nullptr) recording->follow(child);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct Turn {
    double seconds = 0.0, joules = 0.0;
};

Result<Turn> turn(const std::vector<meter::Meter>& meters, const AccountOverheadOptions& options,
                  const Path& log) {
    std::unique_ptr<Recording> recording;
    if (!log.empty()) {
        VIRIDIAN_TRY(meter::PowerLogWriter writer, meter::PowerLogWriter::create(log));
        recording = std::make_unique<Recording>(meters, std::move(writer), Seconds(options.period_ms * 1e-3));
    }
    Result<int> code = 0;
    VIRIDIAN_TRY(const meter::Measurement measured, meter::measure(meters.front(), [&] {
                     code = start_and_wait(options.command, recording.get());
                 }));
    if (recording) VIRIDIAN_TRY(recording->finish());
    if (!code.ok()) return std::move(code).error();
    if (*code != 0)
        return fail(ErrorCode::invalid_argument, "run it by itself first", "`{}` ended with exit code {}",
                    options.command[0], *code);
    return Turn{measured.seconds.value, measured.energy.value.value};
}

Json ratio_json(const std::vector<double>& percent) { return account::to_json(account::spread_of(percent)); }

Result<Answer> run_account_overhead(const AccountOverheadOptions& options) {
    if (options.command.empty())
        return fail(ErrorCode::invalid_argument, "viridian account overhead -- CMD...",
                    "there is no command to run");
    std::vector<meter::Meter> meters;
    if (options.meter.empty()) {
        VIRIDIAN_TRY(meters, meter::open_all(meter_paths()));
    } else {
        VIRIDIAN_TRY(meter::Meter one, meter::open(options.meter, meter_paths()));
        meters.push_back(std::move(one));
    }
    VIRIDIAN_TRY(const TemporaryFile log, TemporaryFile::make());
    VIRIDIAN_TRY(const Turn warm, turn(meters, options, ""));  // caches, files; not counted
    (void)warm;
    Progress progress;
    std::vector<double> plain_s, plain_j, with_s, with_j, seconds, joules;
    Result<void> done;
    for (int i = 0; i < options.runs && done.ok(); ++i) {
        progress.show(fmt::format("run {} of {}", i + 1, options.runs));
        Turn without, with;
        for (const bool recording : {i % 2 == 0, i % 2 != 0}) {  // who goes first changes
            Result<Turn> one = turn(meters, options, recording ? log.path() : Path());
            if (!one.ok()) {
                done = one.error();
                break;
            }
            (recording ? with : without) = *one;
        }
        plain_s.push_back(without.seconds);
        plain_j.push_back(without.joules);
        with_s.push_back(with.seconds);
        with_j.push_back(with.joules);
        seconds.push_back(100.0 * (with.seconds / without.seconds - 1.0));
        joules.push_back(100.0 * (with.joules / without.joules - 1.0));
    }
    VIRIDIAN_TRY(std::move(done));
    const account::Spread time = account::spread_of(seconds), energy = account::spread_of(joules);
    const std::string provenance = meters.front().channels.front().provenance().text();
    Answer answer;
    answer.json = {{"schema", "viridian.account-overhead/1"},
                   {"command", options.command},
                   {"runs", options.runs},
                   {"meter", provenance},
                   {"without", {{"seconds", ratio_json(plain_s)}, {"joules", ratio_json(plain_j)}}},
                   {"with", {{"seconds", ratio_json(with_s)}, {"joules", ratio_json(with_j)}}},
                   {"time_percent", ratio_json(seconds)},
                   {"energy_percent", ratio_json(joules)}};
    answer.text = fmt::format(
        "time {:+.3f} ± {:.3f} %, energy {:+.3f} ± {:.3f} % ({}), {} pairs of runs; the paper: -0.052 ± 0.12 "
        "% "
        "and 0.47 ± 1.10 %\n",
        time.mean, time.deviation, energy.mean, energy.deviation, provenance, options.runs);
    VIRIDIAN_TRY(keep_answer(answer, options.output));
    return answer;
}

}  // namespace

Action define_account_overhead(App app) {
    const auto options = std::make_shared<AccountOverheadOptions>();
    app.add_option("--runs", options->runs, "Pairs of runs").capture_default_str().check(in_range(2, 1000));
    app.add_option("--period", options->period_ms, "Milliseconds between readings while recording")
        .capture_default_str();
    app.add_option("--meter", options->meter, "One meter only (see `viridian doctor`)");
    app.add_option("-o,--output", options->output,
                   "Write the result to FILE.json and its page to FILE.html; the ending may be left out");
    app.add_option("command", options->command, "The program and its arguments, after `--`").required();
    app.positionals_at_end();
    return [options] { return run_account_overhead(*options); };
}

}  // namespace viridian::cli
