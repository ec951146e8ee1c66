#include <algorithm>
#include <cmath>

#include "viridian/base/file.hpp"
#include "viridian/cli/pipeline/pipeline.hpp"
#include "viridian/pipeline/memory.hpp"
#include "viridian/pipeline/profile/device_models.hpp"
#include "viridian/pipeline/profile/profile_json.hpp"
#include "viridian/pipeline/schedules/schedules.hpp"

namespace viridian::cli {
namespace {

using namespace viridian::pipeline;

std::string schedule_names() {
    std::string names;
    for (const ScheduleRow& row : schedules()) names += (names.empty() ? "" : ", ") + row.name;
    return names;
}

std::string device_names() {
    std::string names;
    for (const DeviceModel& model : device_models()) names += (names.empty() ? "" : ", ") + model.name;
    return names;
}

Result<Profile> from_device_models(const PipelineOptions& o) {
    if (o.stages < 1 || o.stages > 65'536)
        return fail(ErrorCode::invalid_argument, "give --stages from 1 to 65536",
                    "{} stages make no pipeline", o.stages);
    std::vector<DeviceModel> devices;
    std::string rest = o.device;
    while (!rest.empty()) {  // one name for all stages, or one per stage: "v100,a100,a100,v100"
        const std::size_t comma = rest.find(',');
        VIRIDIAN_TRY(const DeviceModel device, find_device_model(rest.substr(0, comma)));
        devices.push_back(device);
        rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    }
    if (devices.size() == 1) devices.resize(static_cast<std::size_t>(o.stages), DeviceModel(devices[0]));
    Profile profile = model_profile(devices, Seconds(o.forward), Seconds(o.backward));
    VIRIDIAN_TRY(check_and_sort(profile));
    return profile;
}

Error not_positive(std::string_view option) {
    return fail(ErrorCode::invalid_argument, "give 0 or more", "{} is negative or not a number", option);
}

}  // namespace

void PipelineOptions::add_profile_options(App app) {
    app.add_option("--profile", profile,
                   "Stage profile: CSV `stage,instruction,frequency,time,energy` (MHz, s, J) or JSON");
    const Option model = app.add_option("--device", device,
                                        "Without a profile, a device model (estimates): " + device_names() +
                                            "; one, or one per stage, comma separated");
    app.add_option("--stages", stages, "Stages of the device model").capture_default_str().needs(model);
    app.add_option("--forward", forward, "Device model: seconds of a forward at the highest clock")
        .capture_default_str()
        .needs(model);
    app.add_option("--backward", backward, "Device model: seconds of a backward")
        .capture_default_str()
        .needs(model);
    app.add_option("--wait-power", wait_power, "Watts of a device while it waits").check(in_range(0.0, 1e6));
    app.add_option("--latency", latency, "Seconds before a transfer between ranks");
    app.add_option("--bandwidth", bandwidth, "Bytes per second between ranks");
    app.add_option("--bytes", bytes, "Bytes per transfer");
    app.add_option("--all-reduce", all_reduce, "Seconds of the gradient all-reduce at the end of each stage");
    app.add_option("--data-parallel", data_parallel, "Replicas of the pipeline").check(in_range(1, 1 << 20));
    app.add_option("--tensor-parallel", tensor_parallel, "Equal devices per stage that share a clock")
        .check(in_range(1, 1 << 20));
    app.add_option("--weight-share", weight_share,
                   "Split backwards: this share becomes weight units (an estimate)")
        .check(in_range(0.0, 0.99));
    app.add_option("--activation", activation, "Bytes of activations per micro-batch and stage");
    app.add_option("--weights", weights, "Bytes of weights, gradients and optimiser state per stage");
    app.add_option("--memory", memory, "Bytes of memory per device");
    app.add_option("--switch-latency", switch_latency, "Seconds that a change of clock takes");
    app.add_option("--switch-energy", switch_energy, "Joules that a change of clock costs");
    app.add_option("--dwell", dwell, "Seconds that a clock stays at least");
}

void PipelineOptions::add_schedule_options(App app) {
    app.add_option("--schedule", schedule, schedule_names()).capture_default_str();
    app.add_option("--micro-batches,-m", micro_batches, "Micro-batches per iteration").required();
    app.add_option("--chunks", chunks, "Stages of the profile per rank, for interleaved (default 2)")
        .check(in_range(1, 65'536));
}

Result<Profile> load_profile(const PipelineOptions& o, const std::string& file) {
    Profile profile;
    if (!o.profile.empty() && !o.device.empty())
        return fail(ErrorCode::invalid_argument, "give one of them",
                    "both --profile and --device say what the stages cost");
    if (!file.empty()) {
        VIRIDIAN_TRY(const std::string text, read_file(file, std::uint64_t{1} << 28));
        VIRIDIAN_TRY(profile, read_profile(text, file));
    } else if (!o.device.empty()) {
        VIRIDIAN_TRY(profile, from_device_models(o));
    } else {
        return fail(ErrorCode::invalid_argument, "give --profile FILE, or --device v100 for an estimate",
                    "there is no profile");
    }
    if (o.latency < 0 || o.bandwidth < 0 || o.bytes < 0)
        return not_positive("--latency, --bandwidth or --bytes");
    if (const double t = o.latency + (o.bandwidth > 0 ? o.bytes / o.bandwidth : 0); t > 0)
        profile.transfer.assign(profile.stages.size() - 1, Seconds(t));
    if (o.weight_share > 0 && profile.stages[0].of(Kind::weight).empty())
        split_backward(profile, o.weight_share);
    for (StageProfile& stage : profile.stages) {
        if (o.wait_power >= 0) stage.wait = Watts(o.wait_power);
        if (o.activation >= 0) stage.activation = Bytes(std::llround(o.activation));
        if (o.weights >= 0) stage.weights = Bytes(std::llround(o.weights));
        if (o.memory >= 0) stage.memory = Bytes(std::llround(o.memory));
        if (stage.weight_stash.value == 0) stage.weight_stash = Bytes(stage.activation.value / 2);
    }
    if (o.all_reduce >= 0) profile.all_reduce = Seconds(o.all_reduce);
    if (o.switch_latency >= 0) profile.switch_latency = Seconds(o.switch_latency);
    if (o.switch_energy >= 0) profile.switch_energy = Joules(o.switch_energy);
    if (o.dwell >= 0) profile.dwell = Seconds(o.dwell);
    replicate(profile, o.data_parallel);
    replicate(profile, o.tensor_parallel);
    VIRIDIAN_TRY(check_and_sort(profile));
    return profile;
}

Result<LoadedPipeline> load_pipeline(const PipelineOptions& o, Schedule schedule) {
    LoadedPipeline out;
    VIRIDIAN_TRY(out.profile, load_profile(o, o.profile));
    out.schedule = std::move(schedule);
    VIRIDIAN_TRY(out.network, make_network(out.schedule, out.profile));
    VIRIDIAN_TRY(check_memory(memory_of(out.schedule, out.profile)));
    if (out.network.total_wait().value == 0)
        out.notes.push_back("no --wait-power given: waiting counts as 0 W");
    return out;
}

Result<LoadedPipeline> load_pipeline(const PipelineOptions& o) {
    VIRIDIAN_TRY(const Profile profile, load_profile(o, o.profile));
    VIRIDIAN_TRY(Schedule schedule,
                 make_schedule(o.schedule, profile, {.micro_batches = o.micro_batches, .chunks = o.chunks}));
    return load_pipeline(o, std::move(schedule));
}

void DeadlineOptions::add(App app) {
    const Option absolute = app.add_option("--deadline", deadline, "Seconds the iteration may take at most")
                                .check(in_range(0.0, 1e9));
    app.add_option("--slowdown", slowdown, "Percent the iteration may take beyond the fastest")
        .excludes(absolute)
        .check(in_range(0.0, 1e6));
    app.add_option("--straggler", straggler,
                   "Seconds after which a straggler ends; everyone waits until then")
        .excludes(absolute)
        .check(in_range(0.0, 1e9));
}

Nanoseconds DeadlineOptions::resolve(const Network& network) const {
    if (straggler > 0) return to_nanoseconds(Seconds(straggler));
    if (deadline > 0) return to_nanoseconds(Seconds(deadline));
    const Nanoseconds fastest = evaluate(network, fastest_durations(network)).makespan;
    return std::llround(static_cast<double>(fastest) * (1 + slowdown / 100));
}

}  // namespace viridian::cli
