#include "viridian/cli/train/run_meter.hpp"

#include <unistd.h>

#include <set>

#include "viridian/base/destination.hpp"
#include "viridian/cli/meter/meter_paths.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/process_tree.hpp"

namespace viridian::cli {
namespace {

// A folder that cannot take recordings should be known before hours of training.
Result<void> make_folder(const Path& folder) {
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault)
        return fail(ErrorCode::file_not_writable, "check the folder and its permissions",
                    "the folder `{}` cannot be made: {}", folder.string(), fault.message());
    return check_writable(folder / "power.csv");
}

}  // namespace

Result<std::unique_ptr<RunMeter>> RunMeter::open(const std::string& meter, const Path& folder,
                                                 Listener& listener) {
    std::error_code unknown;
    if (!folder.empty() && std::filesystem::exists(folder, unknown) &&
        !std::filesystem::is_empty(folder, unknown))
        return fail(ErrorCode::invalid_argument, "give another folder", "the folder `{}` is not empty",
                    folder.string());
    if (!folder.empty()) VIRIDIAN_TRY(make_folder(folder));
    std::vector<meter::Meter> meters;
    if (meter.empty()) {
        VIRIDIAN_TRY(meters, meter::open_all(meter_paths()));
    } else {
        VIRIDIAN_TRY(meter::Meter one, meter::open(meter, meter_paths()));
        meters.push_back(std::move(one));
    }
    return std::unique_ptr<RunMeter>(new RunMeter(std::move(meters), folder, listener));
}

RunMeter::RunMeter(std::vector<meter::Meter> meters, Path folder, Listener& listener)
    : meters_(std::move(meters)), folder_(std::move(folder)), listener_(listener), power_(meters_) {
    const auto keep = [this](const std::vector<meter::Channel>& channels,
                             std::span<const meter::Sample> samples) {
        const std::scoped_lock lock(mutex_);
        if (recording_) recording_->take(channels, samples);
    };
    sampler_ = std::make_unique<meter::Sampler>(
        std::vector<meter::Meter>(), meter::SamplerOptions{.period = Seconds(0.004), .max_share = 0.0045},
        keep);
    for (std::size_t m = 0; m < meters_.size(); ++m)
        sampler_->add(meters_[m], [this, keep, m](const std::vector<meter::Channel>& channels,
                                                  std::span<const meter::Sample> samples) {
            power_.take(m, samples);
            keep(channels, samples);
        });
    if (Result<meter::Meter> tree = meter::open_process_tree(::getpid()); tree.ok())
        sampler_->add(std::move(*tree), keep);
}

void RunMeter::begin(train::Activity activity, std::int64_t epoch) {
    sampler_->read_now();
    const RunningPower::Moment now = power_.now();
    if (begun_)
        epochs_[epoch_][static_cast<std::size_t>(activity_)] += power_.stretch(*begun_, now);
    else
        first_ = now;
    begun_ = now;
    activity_ = activity;
    epoch_ = epoch;
}

trace::Recorder* RunMeter::before(const train::StepPlace& place) {
    if (!begun_ || activity_ != train::Activity::steps || place.epoch != epoch_) {
        begin(train::Activity::steps, place.epoch);
        moments_ = {*begun_};
    }
    if (records_ && !recording_->goes_on()) end_recording();
    // The first step of an epoch finds cold caches.
    const bool first = place.in_epoch > 0 || place.steps_in_epoch == 1;
    if (!recording_ && first) begin_recording(place.epoch);
    records_now_ = records_;
    return records_ ? &recording_->recorder() : nullptr;
}

std::optional<Energy> RunMeter::after(Seconds seconds) {
    ++steps_;
    if (records_now_) recording_->add_step(seconds);
    const RunningPower::Moment now = power_.now();
    const auto age = [&](const RunningPower::Moment& moment) {
        return Seconds(1e-9 * static_cast<double>(now.monotonic_ns - moment.monotonic_ns));
    };
    while (moments_.size() > 1 && age(moments_[1]) >= power_.horizon()) moments_.pop_front();
    if (const std::optional<Energy> span = power_.between(moments_.front(), now))
        each_second_ = scaled(*span, 1 / age(moments_.front()).value);
    else if (age(moments_.front()) >= power_.horizon())
        each_second_.reset();  // the meter was reset, or is silent
    if (age(moments_.back()) >= Seconds(0.02)) moments_.push_back(now);
    if (!each_second_) return std::nullopt;
    return scaled(*each_second_, seconds.value);
}

void RunMeter::turn_to(train::Activity activity) {
    if (records_) end_recording();
    begin(activity, epoch_);
}

void RunMeter::end_epoch() {
    if (!recording_) return;
    turn_to(train::Activity::other);
    account();
}

void RunMeter::finish() {
    if (begun_) {
        end_epoch();  // one that the run did not finish
        begin(train::Activity::other, epoch_);
        whole_ = power_.stretch(*first_, *begun_);
    }
    sampler_->stop();
}

ActivityJoules RunMeter::joules(const Activities& activities) const {
    const auto of = [&](train::Activity activity) {
        return power_.energy(activities[static_cast<std::size_t>(activity)], whole_);
    };
    return {of(train::Activity::steps), of(train::Activity::evaluation), of(train::Activity::checkpoint),
            of(train::Activity::other)};
}

ActivityJoules RunMeter::epoch(std::int64_t epoch) const {
    const auto found = epochs_.find(epoch);
    return found == epochs_.end() ? ActivityJoules() : joules(found->second);
}

ActivityJoules RunMeter::run() const {
    Activities sum;
    for (const auto& [epoch, activities] : epochs_)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += activities[i];
    return joules(sum);
}

std::optional<Energy> RunMeter::whole() const { return power_.energy(whole_, whole_); }

void RunMeter::begin_recording(std::int64_t epoch) {
    if (failure_) return;
    const Path folder = folder_.empty() ? Path() : folder_ / fmt::format("epoch-{}", epoch);
    Result<std::unique_ptr<RecordedSteps>> begun = RecordedSteps::begin(epoch, folder, meters_);
    if (!begun.ok()) {
        failure_ = begun.error();
        return;
    }
    {
        const std::scoped_lock lock(mutex_);
        recording_ = std::move(*begun);
    }
    sampler_->read_now();
    records_ = true;
}

void RunMeter::end_recording() {
    records_ = false;
    sampler_->read_now();
    recording_->end();
}

void RunMeter::account() {
    std::unique_ptr<RecordedSteps> recording;
    {
        const std::scoped_lock lock(mutex_);
        recording = std::move(recording_);
    }
    Result<AccountedSteps> made = recording->account();
    if (made.ok()) {
        accounted_.push_back(std::move(*made));
        return;
    }
    const ErrorCode code = made.error().code;
    if (code == ErrorCode::disk_full || code == ErrorCode::file_not_writable) {
        failure_ = made.error();
    } else if (!warned_ && !folder_.empty()) {  // whoever keeps recordings wants to know
        listener_.warning(
            fmt::format("joules by layer are not known for every epoch: {}", made.error().message));
        warned_ = true;
    }
}

std::string RunMeter::meter_names() const {
    std::set<std::string> names;
    for (const meter::Meter& one : meters_)
        for (const meter::Channel& channel : one.channels)
            if (channel.device.starts_with("cpu:")) names.insert(channel.meter);
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace viridian::cli
