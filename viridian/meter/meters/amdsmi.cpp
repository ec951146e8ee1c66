// The meter of AMD GPUs through AMD SMI (ROCm 6 and newer), which is opened at run time: per GPU the energy
// accumulator, in counts of `counter_resolution` microjoules (amdsmi_get_energy_count; 15.3 uJ on Instinct).
// Devices are `cuda:<n>`, as PyTorch's traces call them on ROCm. Powers are not taken from here: the layout
// of amdsmi_power_info_t has changed from release to release without a number that tells which it is; hwmon
// has the same power in files.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/meters/read_each.hpp"

namespace viridian::meter {
namespace {

enum AmdsmiStatus : int { amdsmi_success = 0, amdsmi_not_supported = 2, amdsmi_no_permission = 10 };
constexpr std::uint64_t init_gpus = 2;  // AMDSMI_INIT_AMD_GPUS
constexpr int type_gpu = 1;             // AMDSMI_PROCESSOR_TYPE_AMD_GPU
constexpr std::uint32_t most = 256;     // sockets, and processors of one

struct AmdsmiLibrary {
    void* handle = nullptr;
    bool started = false;
    int (*init)(std::uint64_t) = nullptr;
    int (*shut_down)() = nullptr;
    int (*sockets)(std::uint32_t*, void**) = nullptr;
    int (*processors)(void*, std::uint32_t*, void**) = nullptr;
    int (*type)(void*, int*) = nullptr;
    int (*energy)(void*, std::uint64_t*, float*, std::uint64_t*) = nullptr;
    int (*asic)(void*, char*) = nullptr;  // the market name is its first field
    int (*text)(int, const char**) = nullptr;

    AmdsmiLibrary() = default;
    AmdsmiLibrary(const AmdsmiLibrary&) = delete;
    AmdsmiLibrary& operator=(const AmdsmiLibrary&) = delete;
    ~AmdsmiLibrary() {
        if (started && shut_down != nullptr) shut_down();
        if (handle != nullptr) ::dlclose(handle);
    }
    template <class Function>
    void find(Function& function, const char* symbol) {
        function = reinterpret_cast<Function>(::dlsym(handle, symbol));
    }
    [[nodiscard]] std::string say(int status) const {
        const char* words = nullptr;
        if (text != nullptr && text(status, &words) == amdsmi_success && words != nullptr) return words;
        return fmt::format("AMD SMI error {}", status);
    }
};

struct AmdsmiGpu {
    void* handle = nullptr;
    std::string device, name;
};

struct AmdsmiFound {
    std::shared_ptr<AmdsmiLibrary> library;
    std::vector<AmdsmiGpu> gpus;
    std::vector<std::string> refused;
};

Result<std::shared_ptr<AmdsmiLibrary>> open_library(const MeterPaths& paths) {
    const auto library = std::make_shared<AmdsmiLibrary>();
    const std::string name = paths.path_of("amdsmi", "libamd_smi.so").string();
    std::vector<std::string> candidates = {name};
    if (name.find('/') == std::string::npos) candidates.push_back("/opt/rocm/lib/" + name);
    for (const std::string& candidate : candidates)
        if (library->handle == nullptr) library->handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library->handle == nullptr)
        return fail(ErrorCode::no_device, "install ROCm's amd-smi-lib if there is an AMD GPU",
                    "there is no AMD SMI library on this machine");
    library->find(library->init, "amdsmi_init");
    library->find(library->shut_down, "amdsmi_shut_down");
    library->find(library->sockets, "amdsmi_get_socket_handles");
    library->find(library->processors, "amdsmi_get_processor_handles");
    library->find(library->type, "amdsmi_get_processor_type");
    library->find(library->energy, "amdsmi_get_energy_count");
    library->find(library->asic, "amdsmi_get_gpu_asic_info");
    library->find(library->text, "amdsmi_status_code_to_string");
    if (library->init == nullptr || library->sockets == nullptr || library->processors == nullptr ||
        library->energy == nullptr)
        return fail(ErrorCode::no_device, "update ROCm", "`{}` is not an AMD SMI library of ROCm 6 or later",
                    name);
    if (const int status = library->init(init_gpus); status != amdsmi_success)
        return fail(status == amdsmi_no_permission ? ErrorCode::no_permission : ErrorCode::no_device,
                    status == amdsmi_no_permission ? "sudo usermod -aG render,video $USER, then log in again"
                                                   : "load the driver: sudo modprobe amdgpu",
                    "AMD SMI does not start: {}", library->say(status));
    library->started = true;
    return library;
}

std::string market_name(const AmdsmiLibrary& library, void* gpu) {
    std::array<char, 8192> about{};  // more than any release's structure
    if (library.asic == nullptr || library.asic(gpu, about.data()) != amdsmi_success) return "";
    return {about.data(), ::strnlen(about.data(), 255)};
}

// Microjoules since the driver began to count.
Result<std::int64_t> read_energy(const AmdsmiLibrary& library, const AmdsmiGpu& gpu) {
    std::uint64_t counts = 0, stamp = 0;
    float resolution = 0.0F;
    if (const int status = library.energy(gpu.handle, &counts, &resolution, &stamp); status != amdsmi_success)
        return fail(status == amdsmi_no_permission   ? ErrorCode::no_permission
                    : status == amdsmi_not_supported ? ErrorCode::unsupported
                                                     : ErrorCode::device_failed,
                    status == amdsmi_no_permission ? "sudo usermod -aG render,video $USER, then log in again"
                                                   : "run `amd-smi metric --energy`",
                    "{} gives no energy: {}", gpu.device, library.say(status));
    const double microjoules = static_cast<double>(counts) * static_cast<double>(resolution);
    if (!(resolution > 0.0F) || !(microjoules < 9e18))
        return fail(ErrorCode::device_failed, "run `amd-smi metric --energy`",
                    "{} counts {} times {} uJ, which cannot be", gpu.device, counts, resolution);
    return static_cast<std::int64_t>(microjoules);
}

Result<AmdsmiFound> find_amdsmi(const MeterPaths& paths) {
    AmdsmiFound found;
    VIRIDIAN_TRY(found.library, open_library(paths));
    const AmdsmiLibrary& library = *found.library;
    std::array<void*, most> sockets{}, processors{};
    std::uint32_t socket_count = most;
    if (const int status = library.sockets(&socket_count, sockets.data()); status != amdsmi_success)
        return fail(ErrorCode::no_device, "run `amd-smi list`", "AMD SMI lists no socket: {}",
                    library.say(status));
    int number = 0;
    for (std::uint32_t i = 0; i < std::min(socket_count, most); ++i) {
        std::uint32_t count = most;
        if (library.processors(sockets[i], &count, processors.data()) != amdsmi_success) continue;
        for (std::uint32_t j = 0; j < std::min(count, most); ++j) {
            int type = type_gpu;
            if (library.type != nullptr && library.type(processors[j], &type) != amdsmi_success) continue;
            if (type != type_gpu) continue;
            AmdsmiGpu gpu{processors[j], fmt::format("cuda:{}", number++),
                          market_name(library, processors[j])};
            if (const auto energy = read_energy(library, gpu); energy.ok())
                found.gpus.push_back(std::move(gpu));
            else
                found.refused.push_back(energy.error().message);
        }
    }
    if (number == 0) return fail(ErrorCode::no_device, "run `amd-smi list`", "AMD SMI knows no GPU");
    if (found.gpus.empty())
        return fail(ErrorCode::unsupported, "the card's power may be in hwmon: see `viridian doctor`",
                    "no AMD GPU here counts its energy: {}", found.refused.front());
    return found;
}

Diagnosis probe_amdsmi(const MeterPaths& paths) {
    const Result<AmdsmiFound> found = find_amdsmi(paths);
    if (!found.ok()) return {"amdsmi", false, found.error().message, found.error().next_step, {}};
    Diagnosis diagnosis{
        "amdsmi", true, fmt::format("{} GPUs with an energy counter", found->gpus.size()), "", {}};
    for (const AmdsmiGpu& gpu : found->gpus) diagnosis.details.push_back(gpu.device + " " + gpu.name);
    for (const std::string& text : found->refused) diagnosis.details.push_back(text);
    return diagnosis;
}

// Errors: no_device (no library, no driver, no GPU), no_permission, unsupported (no GPU has a counter).
Result<Meter> open_amdsmi(const MeterPaths& paths) {
    VIRIDIAN_TRY(AmdsmiFound found, find_amdsmi(paths));
    Meter meter{"amdsmi", {}, {}};
    for (const AmdsmiGpu& gpu : found.gpus)
        meter.channels.push_back({"amdsmi", gpu.device, Scope::gpu, Kind::energy_uj, 0});
    meter.update = Seconds(0.001);  // the driver keeps what it read for so long
    meter.shortest = Seconds(0.001);
    meter.read = [found = std::move(found)](std::vector<Sample>& samples) -> Result<void> {
        return read_each(static_cast<std::uint32_t>(found.gpus.size()), samples,
                         [&](std::uint32_t i) { return read_energy(*found.library, found.gpus[i]); });
    };
    return meter;
}

}  // namespace

extern const Row amdsmi_meter = {"amdsmi", probe_amdsmi, open_amdsmi, Use::always, "amdgpu"};

}  // namespace viridian::meter
