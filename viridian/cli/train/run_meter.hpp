#pragma once
// A RunMeter meters a training run: the joules of each step and epoch while it runs, and those of each layer
// from some steps of every epoch, whose kernels it has recorded.
#include <deque>
#include <memory>

#include "viridian/base/listener.hpp"
#include "viridian/cli/train/recorded_steps.hpp"
#include "viridian/cli/train/running_power.hpp"
#include "viridian/meter/sampler.hpp"
#include "viridian/train/loop/watch.hpp"

namespace viridian::cli {

class RunMeter final : public train::Watch {
  public:
    // Opens the meter of this name; empty: those that `viridian record` finds. Recordings are kept below
    // `folder`, one folder for each epoch; empty: they are not kept. Errors: those of opening meters;
    // invalid_argument if the folder holds something.
    [[nodiscard]] static Result<std::unique_ptr<RunMeter>> open(const std::string& meter, const Path& folder,
                                                                Listener& listener);

    [[nodiscard]] trace::Recorder* before(const train::StepPlace& place) override;
    [[nodiscard]] std::optional<Energy> after(Seconds seconds) override;
    [[nodiscard]] std::optional<Energy> end_epoch(std::int64_t epoch) override;

    // Ends an epoch that the run did not finish. Call it once, when the run is over.
    void finish();
    // The recorded steps of each epoch, accounted.
    [[nodiscard]] const std::vector<AccountedSteps>& accounted() const { return accounted_; }
    // The energy of all steps of the run, and how many there were in the epochs whose energy is known.
    [[nodiscard]] const std::optional<Energy>& total() const { return total_; }
    [[nodiscard]] std::int64_t steps() const { return total_steps_; }
    // "model-cpu-linear", or several names; and the provenance of their joules.
    [[nodiscard]] std::string meter_names() const;
    [[nodiscard]] Provenance provenance() const { return power_.provenance(); }
    // The first file that could not be written; the run goes on without it.
    [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

  private:
    RunMeter(std::vector<meter::Meter> meters, Path folder, Listener& listener);
    void begin_recording(std::int64_t epoch);
    void end_recording();
    void account();

    std::vector<meter::Meter> meters_;
    Path folder_;
    Listener& listener_;
    RunningPower power_;

    std::mutex mutex_;  // guards `recording_`, which the sampler's thread reads
    std::unique_ptr<RecordedSteps> recording_;
    bool records_ = false;      // a recording is open
    bool records_now_ = false;  // and takes the present step

    std::optional<RunningPower::Moment> begun_;  // when the steps since the last evaluation began
    std::deque<RunningPower::Moment> moments_;   // over which the power is averaged
    std::optional<Energy> each_second_;          // the power, as the energy of a second
    std::int64_t epoch_ = 0, epoch_steps_ = 0, total_steps_ = 0;
    std::optional<Energy> total_;
    std::vector<AccountedSteps> accounted_;
    std::optional<Error> failure_;
    bool warned_ = false;
    std::unique_ptr<meter::Sampler> sampler_;  // the last member: its thread ends first
};

}  // namespace viridian::cli
