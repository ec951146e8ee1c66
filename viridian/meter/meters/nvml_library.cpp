#include "viridian/meter/meters/nvml_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <span>

namespace viridian::meter {
namespace {

enum Return : int {
    success = 0,
    not_supported = 3,
    no_permission = 4,
    not_found = 6,
    insufficient_size = 7,
};

union Value {
    double real;
    unsigned number;
    unsigned long long wide;
};

struct FieldValue {
    unsigned field = 0;
    unsigned scope = 0;  // 0: GPU, 1: module, 2: memory
    long long timestamp_us = 0;
    long long latency_us = 0;
    unsigned type = 0;  // 0 double, 1 unsigned, 2 unsigned long, 3 unsigned long long, 4 signed long long
    int status = 0;
    Value value{};
};
static_assert(sizeof(FieldValue) == 40);

struct BufferSample {
    unsigned long long timestamp_us = 0;
    Value value{};
};
static_assert(sizeof(BufferSample) == 16);
constexpr int total_power_samples = 0;  // NVML_TOTAL_POWER_SAMPLES

constexpr unsigned average_power = 185, instant_power = 186, scoped_energy = 191;
constexpr std::array<NvmlField, 11> all_fields = {{
    {"energy", Scope::gpu, Kind::energy_uj, 0},
    {"average", Scope::gpu, Kind::average_uw, average_power},
    {"instant", Scope::gpu, Kind::power_uw, instant_power},
    {"buffer", Scope::gpu, Kind::power_uw, 0, true},
    {"usage", Scope::gpu, Kind::power_uw, 0},
    {"module energy", Scope::module, Kind::energy_uj, scoped_energy},
    {"module average", Scope::module, Kind::average_uw, average_power},
    {"module instant", Scope::module, Kind::power_uw, instant_power},
    {"memory energy", Scope::memory, Kind::energy_uj, scoped_energy},
    {"memory average", Scope::memory, Kind::average_uw, average_power},
    {"memory instant", Scope::memory, Kind::power_uw, instant_power},
}};

unsigned scope_id(Scope scope) { return scope == Scope::module ? 1U : scope == Scope::memory ? 2U : 0U; }

std::int64_t number(const Value& value, unsigned type) {
    switch (type) {
        case 0:
            return static_cast<std::int64_t>(value.real);
        case 1:
            return value.number;
        default:
            return static_cast<std::int64_t>(value.wide);
    }
}

// Where drivers keep it on machines whose loader is not told: RHEL, Debian, containers, NixOS, WSL.
constexpr std::array<const char*, 6> driver_folders = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64",
                                                       "/usr/local/nvidia/lib64",   "/usr/local/nvidia/lib",
                                                       "/run/opengl-driver/lib",    "/usr/lib/wsl/lib"};

void* open_library(const std::string& name, std::string& path, std::string& why) {
    std::vector<std::string> candidates = {name};
    if (name.find('/') == std::string::npos)
        for (const char* folder : driver_folders) candidates.push_back(fmt::format("{}/{}", folder, name));
    for (const std::string& candidate : candidates) {
        if (void* handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
            path = candidate;
            return handle;
        }
        const char* said = ::dlerror();
        const std::string text = said != nullptr ? said : "";
        if (text.find("No such file") == std::string::npos) why = text;  // it is there and was refused
    }
    return nullptr;
}

}  // namespace

std::span<const NvmlField> nvml_fields() { return all_fields; }

struct NvmlLibrary::Functions {
    void* handle = nullptr;
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*by_index)(unsigned, void**) = nullptr;
    int (*energy)(void*, unsigned long long*) = nullptr;
    int (*power)(void*, unsigned*) = nullptr;
    int (*fields)(void*, int, FieldValue*) = nullptr;
    int (*samples)(void*, int, unsigned long long, unsigned*, unsigned*, BufferSample*) = nullptr;
    int (*mig)(void*, unsigned*, unsigned*) = nullptr;
    int (*name)(void*, char*, unsigned) = nullptr;
    int (*uuid)(void*, char*, unsigned) = nullptr;
    int (*driver)(char*, unsigned) = nullptr;
    const char* (*text)(int) = nullptr;

    template <class Function>
    void find(Function& function, const char* symbol) {
        function = reinterpret_cast<Function>(::dlsym(handle, symbol));
    }
};

NvmlLibrary::NvmlLibrary() : functions_(std::make_unique<Functions>()) {}

NvmlLibrary::~NvmlLibrary() {
    if (started_ && functions_->shutdown != nullptr) functions_->shutdown();
    if (functions_->handle != nullptr) ::dlclose(functions_->handle);
}

Result<std::shared_ptr<NvmlLibrary>> NvmlLibrary::open(const MeterPaths& paths) {
    const std::shared_ptr<NvmlLibrary> library(new NvmlLibrary);
    Functions& f = *library->functions_;
    std::string why;
    f.handle = open_library(paths.path_of("nvml", "libnvidia-ml.so.1").string(), library->path_, why);
    if (f.handle == nullptr && !why.empty())
        return fail(ErrorCode::no_device, "use a build of Viridian for this machine's driver",
                    "the NVML library of this machine cannot be loaded: {}", why);
    if (f.handle == nullptr)
        return fail(ErrorCode::no_device, "install the NVIDIA driver if there is a GPU",
                    "there is no NVML library on this machine");
    f.find(f.init, "nvmlInit_v2");
    f.find(f.shutdown, "nvmlShutdown");
    f.find(f.count, "nvmlDeviceGetCount_v2");
    f.find(f.by_index, "nvmlDeviceGetHandleByIndex_v2");
    f.find(f.energy, "nvmlDeviceGetTotalEnergyConsumption");
    f.find(f.power, "nvmlDeviceGetPowerUsage");
    f.find(f.fields, "nvmlDeviceGetFieldValues");
    f.find(f.samples, "nvmlDeviceGetSamples");
    f.find(f.mig, "nvmlDeviceGetMigMode");
    f.find(f.name, "nvmlDeviceGetName");
    f.find(f.uuid, "nvmlDeviceGetUUID");
    f.find(f.driver, "nvmlSystemGetDriverVersion");
    f.find(f.text, "nvmlErrorString");
    if (f.init == nullptr || f.count == nullptr || f.by_index == nullptr)
        return fail(ErrorCode::no_device, "update the NVIDIA driver",
                    "`{}` is not an NVML library of version 5 or later", library->path_);
    if (const int status = f.init(); status != success)
        return fail(status == no_permission ? ErrorCode::no_permission : ErrorCode::no_device,
                    status == no_permission ? "sudo usermod -aG video $USER, then log in again"
                                            : "load the driver: sudo modprobe nvidia",
                    "NVML does not start: {}", library->say(status));
    library->started_ = true;
    return library;
}

std::string NvmlLibrary::say(int status) const {
    return functions_->text != nullptr ? functions_->text(status) : fmt::format("NVML error {}", status);
}

Error NvmlLibrary::error(const NvmlGpu& gpu, int status) const {
    return fail(status == no_permission   ? ErrorCode::no_permission
                : status == not_supported ? ErrorCode::unsupported
                                          : ErrorCode::device_failed,
                "run `nvidia-smi`; if the GPU is lost, restart the machine", "{} stopped answering: {}",
                gpu.device, say(status));
}

Result<NvmlLibrary::Listed> NvmlLibrary::gpus() const {
    unsigned count = 0;
    if (const int status = functions_->count(&count); status != success || count == 0)
        return fail(ErrorCode::no_device, "run `nvidia-smi`", "NVML knows no GPU{}",
                    status == success ? "" : ": " + say(status));
    Listed listed;
    for (unsigned i = 0; i < count; ++i) {
        NvmlGpu gpu{nullptr, i, fmt::format("cuda:{}", i), "", "", false};
        if (const int status = functions_->by_index(i, &gpu.handle); status != success) {
            listed.refused.push_back(fmt::format("{}: {}", gpu.device, say(status)));
            continue;
        }
        const auto text = [&gpu](int (*function)(void*, char*, unsigned)) {
            std::array<char, 96> buffer{};
            const bool known = function != nullptr &&
                               function(gpu.handle, buffer.data(), unsigned{buffer.size() - 1}) == success;
            return known ? std::string(buffer.data()) : std::string();
        };
        gpu.name = text(functions_->name);
        gpu.uuid = text(functions_->uuid);
        unsigned mig = 0, pending = 0;
        gpu.mig =
            functions_->mig != nullptr && functions_->mig(gpu.handle, &mig, &pending) == success && mig == 1;
        listed.gpus.push_back(std::move(gpu));
    }
    return listed;
}

std::string NvmlLibrary::driver() const {
    std::array<char, 96> buffer{};
    if (functions_->driver == nullptr ||
        functions_->driver(buffer.data(), unsigned{buffer.size() - 1}) != success)
        return "";
    return buffer.data();
}

void NvmlLibrary::read(const NvmlGpu& gpu, std::span<const NvmlField> fields,
                       std::vector<Result<Sample>>& samples) const {
    std::array<FieldValue, all_fields.size()> values{};
    invariant(fields.size() <= values.size(), "no more fields than there are");
    int asked = 0;
    for (const NvmlField& field : fields)
        if (field.id != 0) {
            values[static_cast<std::size_t>(asked)].field = field.id;
            values[static_cast<std::size_t>(asked++)].scope = scope_id(field.scope);
        }
    const Stamp now = stamp_now();
    int together = not_supported;
    if (asked > 0 && functions_->fields != nullptr)
        together = functions_->fields(gpu.handle, asked, values.data());
    const FieldValue* next = values.data();
    for (const NvmlField& field : fields) {
        if (field.buffer) {
            std::vector<Sample> newest;
            const Result<void> got = buffered(gpu, 0, newest);
            if (got.ok() && !newest.empty())
                samples.emplace_back(newest.back());
            else
                samples.emplace_back(got.ok() ? error(gpu, not_supported) : got.error());
            continue;
        }
        int status = not_supported;
        Sample sample{0, now.time_ns, now.monotonic_ns, 0, 0};
        if (field.id != 0) {
            const FieldValue& value = *next++;
            status = together != success ? together : value.status;
            sample.value = number(value.value, value.type) * 1000;
            if (value.timestamp_us > 0) {
                sample.time_ns = value.timestamp_us * 1000;
                sample.monotonic_ns += sample.time_ns - now.time_ns;
            }
        } else if (field.kind == Kind::energy_uj && functions_->energy != nullptr) {
            unsigned long long millijoules = 0;
            status = functions_->energy(gpu.handle, &millijoules);
            sample.value = static_cast<std::int64_t>(millijoules) * 1000;
        } else if (field.kind != Kind::energy_uj && functions_->power != nullptr) {
            unsigned milliwatts = 0;
            status = functions_->power(gpu.handle, &milliwatts);
            sample.value = std::int64_t{milliwatts} * 1000;
        }
        if (field.kind == Kind::average_uw)
            sample.window_ns = 1'000'000'000;  // documented: a mean over one second
        if (status == success)
            samples.emplace_back(sample);
        else
            samples.emplace_back(error(gpu, status));
    }
}

Result<void> NvmlLibrary::buffered(const NvmlGpu& gpu, std::int64_t last_ns,
                                   std::vector<Sample>& samples) const {
    if (functions_->samples == nullptr) return error(gpu, not_supported);
    const Stamp now = stamp_now();
    const auto after = static_cast<unsigned long long>(std::max<std::int64_t>(last_ns, 0) / 1000);
    std::vector<BufferSample> found(256);
    auto count = static_cast<unsigned>(found.size());
    unsigned type = 1;
    const auto ask = [&](BufferSample* into) {
        return functions_->samples(gpu.handle, total_power_samples, after, &type, &count, into);
    };
    int status = ask(found.data());
    if (status == insufficient_size) {
        if (status = ask(nullptr); status == success) {
            found.resize(std::min(count, 65'536U));
            count = static_cast<unsigned>(found.size());
            status = ask(found.data());
        }
    }
    if (status == not_found) return {};
    if (status != success) return error(gpu, status);
    found.resize(std::min<std::size_t>(count, found.size()));
    std::ranges::sort(found, {}, &BufferSample::timestamp_us);
    for (const BufferSample& one : found) {
        if (one.timestamp_us <= after) continue;
        const std::int64_t time = static_cast<std::int64_t>(one.timestamp_us) * 1000;
        samples.push_back(
            {0, time, now.monotonic_ns + (time - now.time_ns), number(one.value, type) * 1000, 0});
    }
    return {};
}

}  // namespace viridian::meter
