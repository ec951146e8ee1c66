#pragma once
// A RunMeter meters a training run: the joules of each step and epoch while it runs, those of evaluations and
// checkpoints apart, and those of each layer from some steps of every epoch, whose kernels it has recorded.
#include <array>
#include <deque>
#include <map>
#include <memory>

#include "viridian/base/listener.hpp"
#include "viridian/cli/train/recorded_steps.hpp"
#include "viridian/cli/train/running_power.hpp"
#include "viridian/meter/sampler.hpp"
#include "viridian/train/loop/watch.hpp"

namespace viridian::cli {

// ActivityJoules is the energy of an epoch or of a run by what was done. A part that did not happen, or whose
// energy is not known, has none.
struct ActivityJoules {
    std::optional<Energy> steps, evaluation, checkpoint;
    std::optional<Energy>
        other;  // accounting recorded steps, writing the model and comparing it with the run
};

class RunMeter final : public train::Watch {
  public:
    // Opens the meter of this name; empty: those that `viridian record` finds. Recordings are kept below
    // `folder`, one folder for each epoch; empty: they are not kept. Errors: those of opening meters;
    // invalid_argument if the folder holds something.
    [[nodiscard]] static Result<std::unique_ptr<RunMeter>> open(const std::string& meter, const Path& folder,
                                                                Listener& listener);

    [[nodiscard]] trace::Recorder* before(const train::StepPlace& place) override;
    [[nodiscard]] std::optional<Energy> after(Seconds seconds) override;
    void end_epoch() override;
    void turn_to(train::Activity activity) override;

    // Ends the last activity. Call it once, when the run is over and its model is written.
    void finish();
    // These are valid after finish(). The parts of the run add up to the whole, from its first step on.
    [[nodiscard]] ActivityJoules epoch(std::int64_t epoch) const;
    [[nodiscard]] ActivityJoules run() const;
    [[nodiscard]] std::optional<Energy> whole() const;
    [[nodiscard]] std::int64_t steps() const { return steps_; }
    // The recorded steps of each epoch, accounted.
    [[nodiscard]] const std::vector<AccountedSteps>& accounted() const { return accounted_; }
    // "model-cpu-linear", or several names; and the provenance of their joules.
    [[nodiscard]] std::string meter_names() const;
    [[nodiscard]] Provenance provenance() const { return power_.provenance(); }
    // The first file that could not be written; the run goes on without it.
    [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

  private:
    using Stretches = RunningPower::Stretches;
    using Activities = std::array<Stretches, 4>;  // by train::Activity

    RunMeter(std::vector<meter::Meter> meters, Path folder, Listener& listener);
    void begin(train::Activity activity, std::int64_t epoch);
    [[nodiscard]] ActivityJoules joules(const Activities& activities) const;
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

    train::Activity activity_ = train::Activity::other;  // the present one
    std::int64_t epoch_ = 0;                             // that it belongs to
    std::optional<RunningPower::Moment> first_, begun_;  // when the run and the activity began
    std::map<std::int64_t, Activities> epochs_;
    Stretches whole_;
    std::int64_t steps_ = 0;
    std::deque<RunningPower::Moment> moments_;  // over which the power is averaged
    std::optional<Energy> each_second_;         // the power, as the energy of a second
    std::vector<AccountedSteps> accounted_;
    std::optional<Error> failure_;
    bool warned_ = false;
    std::unique_ptr<meter::Sampler> sampler_;  // the last member: its thread ends first
};

}  // namespace viridian::cli
