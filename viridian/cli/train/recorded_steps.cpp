#include "viridian/cli/train/recorded_steps.hpp"

#include <algorithm>

#include "viridian/account/account.hpp"
#include "viridian/trace/write/output_format.hpp"

namespace viridian::cli {

Result<std::unique_ptr<RecordedSteps>> RecordedSteps::begin(std::int64_t epoch, const Path& folder,
                                                            std::span<const meter::Meter> meters) {
    std::optional<TemporaryFile> temporary;
    Path file = folder / "power.csv";
    if (folder.empty()) {
        VIRIDIAN_TRY(TemporaryFile made, TemporaryFile::make());
        file = made.path();
        temporary.emplace(std::move(made));
    } else {
        std::error_code fault;
        std::filesystem::create_directories(folder, fault);
    }
    VIRIDIAN_TRY(meter::PowerLogWriter writer, meter::PowerLogWriter::create(file));
    for (const meter::Meter& one : meters)
        for (const meter::Channel& channel : one.channels)
            if (channel.wrap_uj > 0)
                VIRIDIAN_TRY(writer.note(fmt::format("wrap_uj {} {} {} {}", channel.meter, channel.device,
                                                     name_of(channel.scope), channel.wrap_uj)));
    return std::unique_ptr<RecordedSteps>(
        new RecordedSteps(epoch, folder, std::move(temporary), std::move(writer)));
}

RecordedSteps::RecordedSteps(std::int64_t epoch, Path folder, std::optional<TemporaryFile> temporary,
                             meter::PowerLogWriter writer)
    : folder_(std::move(folder)), writer_(std::move(writer)) {
    if (temporary) temporary_.emplace(std::move(*temporary));
    made_.epoch = epoch;
}

void RecordedSteps::take(const std::vector<meter::Channel>& channels,
                         std::span<const meter::Sample> samples) {
    const std::scoped_lock lock(mutex_);
    if (!ended_ && written_.ok()) written_ = writer_.add(channels, samples);
}

void RecordedSteps::add_step(Seconds seconds) {
    ++made_.steps;
    made_.seconds += seconds;
    const std::uint32_t left = recorder_.left(0);
    largest_step_ = std::max(largest_step_, left_ - left);
    left_ = left;
}

bool RecordedSteps::goes_on() const { return made_.seconds < longest && left_ > largest_step_; }

void RecordedSteps::end() {
    const std::scoped_lock lock(mutex_);
    if (!ended_ && written_.ok()) written_ = writer_.flush();
    ended_ = true;
}

Result<AccountedSteps> RecordedSteps::account() {
    VIRIDIAN_TRY(std::move(written_));
    const auto start = std::chrono::steady_clock::now();
    const auto recorded = recorder_.finish();
    VIRIDIAN_TRY(const trace::Collected events, trace::collect(*recorded));
    if (!folder_.empty()) {
        const auto kept = trace::from_memory(events.about, events.events);
        VIRIDIAN_TRY(trace::write_as(*kept, folder_ / "kernels.train.vtrace", trace::OutputFormat::binary));
    }
    VIRIDIAN_TRY(const meter::PowerLog power,
                 meter::read_power_log(temporary_ ? temporary_->path() : folder_ / "power.csv"));
    const auto source = trace::from_memory(events.about, events.events);
    VIRIDIAN_TRY(made_.accounting_of, account::account(*source, power));
    made_.accounting =
        Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return std::move(made_);
}

}  // namespace viridian::cli
