#pragma once
// RecordedSteps records the kernels of some steps of an epoch, and the power meanwhile, and accounts the
// joules to the layers. With a folder, the trace and the power log stay there, as `viridian account FOLDER`
// reads them.
#include <chrono>
#include <mutex>

#include "viridian/account/result.hpp"
#include "viridian/base/file.hpp"
#include "viridian/meter/log/power_log.hpp"
#include "viridian/meter/meter.hpp"
#include "viridian/trace/record/recorder.hpp"

namespace viridian::cli {

// AccountedSteps holds the accounting of the steps of one epoch that were recorded.
struct AccountedSteps {
    std::int64_t epoch = 0;
    std::int64_t steps = 0;  // that were recorded
    Seconds seconds;         // that they took together
    Seconds accounting;      // that it took to account them, while nothing was trained
    account::Accounting accounting_of;
};

class RecordedSteps {
  public:
    // Steps are recorded until they took this long together, which is 200 updates of the meter `model`.
    static constexpr Seconds longest{2.0};

    // `folder` keeps the files; empty: they are temporary. Errors: file_not_writable, disk_full.
    [[nodiscard]] static Result<std::unique_ptr<RecordedSteps>> begin(std::int64_t epoch, const Path& folder,
                                                                      std::span<const meter::Meter> meters);

    [[nodiscard]] trace::Recorder& recorder() { return recorder_; }
    // Takes samples; another thread may call it.
    void take(const std::vector<meter::Channel>& channels, std::span<const meter::Sample> samples);
    // Counts a step that was recorded.
    void add_step(Seconds seconds);
    // Returns whether another step should be recorded.
    [[nodiscard]] bool goes_on() const;
    // Ends the power log. Samples are dropped from now on.
    void end();
    // Accounts the steps. Call it once, after end(). Errors: those of writing and of account::account.
    [[nodiscard]] Result<AccountedSteps> account();

  private:
    RecordedSteps(std::int64_t epoch, Path folder, std::optional<TemporaryFile> temporary,
                  meter::PowerLogWriter writer);

    static constexpr std::uint32_t most_events = 1U << 18U;

    Path folder_;
    std::optional<TemporaryFile> temporary_;
    std::mutex mutex_;  // guards the writer and what became of it
    meter::PowerLogWriter writer_;
    Result<void> written_;
    bool ended_ = false;
    trace::Recorder recorder_{1, most_events};
    std::uint32_t largest_step_ = 0;  // events
    std::uint32_t left_ = most_events;
    AccountedSteps made_;
};

}  // namespace viridian::cli
