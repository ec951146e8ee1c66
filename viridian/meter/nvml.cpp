#include "viridian/meter/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <mutex>

namespace viridian::meter {
namespace {

// The part of NVML's interface that is used; layouts as in nvml.h (stable since NVML 5).
using Handle = void*;
enum Return : int { success = 0, not_supported = 3, no_permission = 4, gpu_is_lost = 15 };
enum Field : unsigned { average_power = 185, instant_power = 186 };
struct FieldValue {
    unsigned field = 0;
    unsigned scope = 0;  // 0: GPU, 1: module
    long long timestamp_us = 0;
    long long latency_us = 0;
    unsigned type = 0;  // 0 double, 1 unsigned, 2 unsigned long, 3 unsigned long long, 4 signed long long
    int status = 0;
    union {
        double real;
        unsigned number;
        unsigned long long wide;
    } value{};
};
static_assert(sizeof(FieldValue) == 40);

struct Library {
    void* handle = nullptr;
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*by_index)(unsigned, Handle*) = nullptr;
    int (*energy)(Handle, unsigned long long*) = nullptr;
    int (*power)(Handle, unsigned*) = nullptr;
    int (*fields)(Handle, int, FieldValue*) = nullptr;
    int (*mig)(Handle, unsigned*, unsigned*) = nullptr;
    const char* (*text)(int) = nullptr;
    bool started = false;

    Library() = default;
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() {
        if (started && shutdown != nullptr) shutdown();
        if (handle != nullptr) ::dlclose(handle);
    }
    template <class Function>
    void find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(::dlsym(handle, name));
    }
    [[nodiscard]] std::string say(int status) const {
        return text != nullptr ? text(status) : fmt::format("NVML error {}", status);
    }
};

Result<std::shared_ptr<Library>> load(const Places& places) {
    const auto library = std::make_shared<Library>();
    library->handle = ::dlopen(places.nvml.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library->handle == nullptr)
        return fail(ErrorCode::no_device, "install the NVIDIA driver if there is a GPU",
                    "there is no NVML library on this machine");
    library->find(library->init, "nvmlInit_v2");
    library->find(library->shutdown, "nvmlShutdown");
    library->find(library->count, "nvmlDeviceGetCount_v2");
    library->find(library->by_index, "nvmlDeviceGetHandleByIndex_v2");
    library->find(library->energy, "nvmlDeviceGetTotalEnergyConsumption");
    library->find(library->power, "nvmlDeviceGetPowerUsage");
    library->find(library->fields, "nvmlDeviceGetFieldValues");
    library->find(library->mig, "nvmlDeviceGetMigMode");
    library->find(library->text, "nvmlErrorString");
    if (library->init == nullptr || library->count == nullptr || library->by_index == nullptr)
        return fail(ErrorCode::no_device, "update the NVIDIA driver",
                    "`{}` is not an NVML library of version 5 or later", places.nvml);
    if (const int status = library->init(); status != success)
        return fail(status == no_permission ? ErrorCode::no_permission : ErrorCode::no_device,
                    status == no_permission ? "sudo usermod -aG video $USER, then log in again"
                                            : "load the driver: sudo modprobe nvidia",
                    "NVML does not start: {}", library->say(status));
    library->started = true;
    return library;
}

enum class How { energy, average, instant, usage };

struct Source {
    Handle gpu = nullptr;
    How how = How::energy;
    Channel channel;
};

// Microjoules or microwatts, and the driver's stamp where it has one.
Result<Sample> read(const Library& library, const Source& source) {
    int status = success;
    Sample sample;
    const Stamp now = stamp_now();
    sample.time_ns = now.time_ns;
    sample.monotonic_ns = now.monotonic_ns;
    if (source.how == How::energy) {
        unsigned long long millijoules = 0;
        status = library.energy(source.gpu, &millijoules);
        sample.value = static_cast<std::int64_t>(millijoules) * 1000;
    } else if (source.how == How::usage) {
        unsigned milliwatts = 0;
        status = library.power(source.gpu, &milliwatts);
        sample.value = std::int64_t{milliwatts} * 1000;
    } else {
        FieldValue field;
        field.field = source.how == How::average ? average_power : instant_power;
        status = library.fields(source.gpu, 1, &field);
        if (status == success) status = field.status;
        sample.value = std::int64_t{field.value.number} * 1000;
        if (field.timestamp_us > 0) {
            const std::int64_t stamped = field.timestamp_us * 1000;
            sample.monotonic_ns += stamped - sample.time_ns;
            sample.time_ns = stamped;
        }
        if (source.how == How::average)
            sample.window_ns = 1'000'000'000;  // documented: a mean over one second
    }
    if (status == success) return sample;
    return fail(status == no_permission   ? ErrorCode::no_permission
                : status == not_supported ? ErrorCode::unsupported
                                          : ErrorCode::device_failed,
                "run `nvidia-smi`; if the GPU is lost, restart the machine", "{} stopped answering: {}",
                source.channel.device, library.say(status));
}

struct Found {
    std::shared_ptr<Library> library;
    std::vector<Source> sources;
    std::vector<std::string> remarks;
    unsigned gpus = 0;
};

Result<Found> find(const Places& places) {
    Found found;
    VIRIDIAN_TRY(found.library, load(places));
    Library& library = *found.library;
    if (const int status = library.count(&found.gpus); status != success || found.gpus == 0)
        return fail(ErrorCode::no_device, "run `nvidia-smi`", "NVML knows no GPU{}",
                    status == success ? "" : ": " + library.say(status));
    for (unsigned i = 0; i < found.gpus; ++i) {
        const std::string device = fmt::format("cuda:{}", i);
        Handle gpu = nullptr;
        if (const int status = library.by_index(i, &gpu); status != success) {
            found.remarks.push_back(fmt::format("{}: {}", device, library.say(status)));
            continue;
        }
        unsigned mig = 0, pending = 0;
        if (library.mig != nullptr && library.mig(gpu, &mig, &pending) == success && mig == 1)
            found.remarks.push_back(device +
                                    " is in MIG mode: its meter is the whole card's, slices have none");
        const auto try_source = [&](How how, Kind kind, bool exists) {
            if (!exists) return false;
            const Source source{gpu, how, {"nvml", device, Scope::gpu, kind, 0}};
            if (!read(library, source).ok()) return false;
            found.sources.push_back(source);
            return true;
        };
        bool any = try_source(How::energy, Kind::energy_uj, library.energy != nullptr);
        const bool fields = library.fields != nullptr;
        const bool average = try_source(How::average, Kind::average_uw, fields);
        const bool instant = try_source(How::instant, Kind::power_uw, fields);
        any = any || average || instant || try_source(How::usage, Kind::power_uw, library.power != nullptr);
        if (!any) found.remarks.push_back(device + " reports neither energy nor power");
    }
    if (found.sources.empty())
        return fail(ErrorCode::unsupported, "no driver setting changes this",
                    "no NVIDIA GPU here reports energy or power: {}",
                    found.remarks.empty() ? "" : found.remarks.front());
    return found;
}

}  // namespace

Finding probe_nvml(const Places& places) {
    const Result<Found> found = find(places);
    if (!found.ok()) return {"nvml", false, found.error().message, found.error().next_step};
    std::string text = fmt::format("{} GPUs, {} channels", found->gpus, found->sources.size());
    for (const std::string& remark : found->remarks) text += "; " + remark;
    return {"nvml", true, text, ""};
}

Result<Meter> open_nvml(const Places& places) {
    VIRIDIAN_TRY(const Found found, find(places));
    Meter meter{"nvml", {}, {}};
    for (const Source& source : found.sources) meter.channels.push_back(source.channel);
    meter.update = Seconds(0.1);
    // A driver answers from its own buffer: the same stamp again is the same reading.
    const auto last = std::make_shared<std::vector<std::int64_t>>(found.sources.size(), INT64_MIN);
    meter.read = [found, last](std::vector<Sample>& samples) -> Result<void> {
        std::optional<Error> lost;
        for (std::uint32_t i = 0; i < found.sources.size(); ++i) {
            Result<Sample> sample = read(*found.library, found.sources[i]);
            if (!sample.ok()) {
                lost = sample.error();
                continue;
            }
            sample->channel = i;
            if (sample->time_ns <= (*last)[i]) continue;
            (*last)[i] = sample->time_ns;
            samples.push_back(*sample);
        }
        if (lost) return *lost;
        return {};
    };
    return meter;
}

}  // namespace viridian::meter
