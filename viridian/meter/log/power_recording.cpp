#include "viridian/meter/log/power_recording.hpp"

#include <algorithm>

#include "viridian/meter/measure.hpp"
#include "viridian/meter/meters/proc_stat.hpp"
#include "viridian/meter/process_tree.hpp"

namespace viridian::meter {
namespace {

// Keeps the first error of writing: after it the log does not grow.
class GuardedLog {
  public:
    explicit GuardedLog(PowerLogWriter writer) : writer_(std::move(writer)) {}
    void add(const std::vector<Channel>& channels, std::span<const Sample> samples) {
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
    PowerLogWriter writer_;
    std::optional<Error> failed_;
};

// Notes at the head of the log: how often each meter changes, where counters wrap, which CPU is where.
Result<void> write_head(GuardedLog& log, const std::vector<Meter>& meters) {
    for (const Meter& one : meters) {
        VIRIDIAN_TRY(const Seconds update, measure_update(one, Seconds(0.1)));
        log.note(fmt::format("update_ns {} {}", one.name,
                             static_cast<std::int64_t>(std::max(update.value, one.shortest.value) * 1e9)));
        for (const Channel& channel : one.channels)
            if (channel.wrap_uj > 0)
                log.note(fmt::format("wrap_uj {} {} {} {}", channel.meter, channel.device,
                                     name_of(channel.scope), channel.wrap_uj));
    }
    VIRIDIAN_TRY(const CpuTimes times, read_cpu_times("/"));
    const std::vector<int> packages = cpu_packages("/", times.busy.size());
    for (std::size_t cpu = 0; cpu < packages.size(); ++cpu)
        log.note(fmt::format("cpu_package {} {}", cpu, packages[cpu]));
    return {};
}

}  // namespace

struct PowerRecording::State {
    explicit State(PowerLogWriter writer) : log(std::move(writer)) {}
    GuardedLog log;
    Sampler::Take take = [this](const std::vector<Channel>& channels, std::span<const Sample> samples) {
        log.add(channels, samples);
    };
    std::vector<std::uint64_t> watched;
    std::unique_ptr<Sampler> sampler;  // last: its thread ends first
};

PowerRecording::PowerRecording(std::unique_ptr<State> state) : state_(std::move(state)) {}
PowerRecording::PowerRecording(PowerRecording&&) noexcept = default;
PowerRecording& PowerRecording::operator=(PowerRecording&&) noexcept = default;
PowerRecording::~PowerRecording() = default;

Result<PowerRecording> PowerRecording::start(const Path& path, std::vector<Meter> meters, Seconds period) {
    VIRIDIAN_TRY(PowerLogWriter writer, PowerLogWriter::create(path));
    auto state = std::make_unique<State>(std::move(writer));
    VIRIDIAN_TRY(write_head(state->log, meters));
    state->sampler =
        std::make_unique<Sampler>(std::move(meters), SamplerOptions{.period = period}, state->take,
                                  [log = &state->log](std::string_view line) { log->note(line); });
    state->sampler->read_now();
    return PowerRecording(std::move(state));
}

void PowerRecording::watch(int process) {
    if (Result<Meter> tree = open_process_tree(process); tree.ok())
        state_->watched.push_back(state_->sampler->add(std::move(*tree), state_->take));
}

void PowerRecording::read_now() { state_->sampler->read_now(); }

PowerRecording::Ended PowerRecording::stop() {
    state_->sampler->read_now();
    for (const std::uint64_t number : state_->watched) state_->sampler->remove(number);
    Ended ended{state_->sampler->stop(), {}};
    ended.failed = state_->log.finish();
    return ended;
}

}  // namespace viridian::meter
