#pragma once
// NvmlLibrary opens NVML at run time: the few functions used, and every power field that a GPU may have.
// Layouts and numbers as in nvml.h (stable since NVML 5; scoped power fields since driver 530). Only reads:
// nothing here can change a clock, a limit or a mode.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "viridian/meter/meter.hpp"

namespace viridian::meter {

// One way of asking one GPU for energy or power.
struct NvmlField {
    std::string_view name;  // "average", "module instant"
    Scope scope = Scope::gpu;
    Kind kind = Kind::power_uw;
    unsigned id = 0;      // of nvmlDeviceGetFieldValues; 0: a function of its own (energy, usage, buffer)
    bool buffer = false;  // the driver's own samples (nvmlDeviceGetSamples): all that are new at once
};
// Everything there is, in the order: GPU, module, memory; the counter first.
[[nodiscard]] std::span<const NvmlField> nvml_fields();

struct NvmlGpu {
    void* handle = nullptr;
    unsigned index = 0;
    std::string device;  // "cuda:0": NVML's order, that of the PCI bus
    std::string name, uuid;
    bool mig = false;
};

class NvmlLibrary {
  public:
    // Errors: no_device (no library, no driver), no_permission.
    [[nodiscard]] static Result<std::shared_ptr<NvmlLibrary>> open(const MeterPaths& paths);
    NvmlLibrary(const NvmlLibrary&) = delete;
    NvmlLibrary& operator=(const NvmlLibrary&) = delete;
    ~NvmlLibrary();

    struct Listed {
        std::vector<NvmlGpu> gpus;
        std::vector<std::string> refused;  // "cuda:1: Insufficient Permissions"
    };
    // Errors: no_device (NVML knows no GPU).
    [[nodiscard]] Result<Listed> gpus() const;

    // One reading per field, in microjoules or microwatts; those of nvmlDeviceGetFieldValues by one call. The
    // stamp is the driver's if it gives one; for a buffer it is the newest. Errors: no_permission,
    // unsupported, device_failed.
    void read(const NvmlGpu& gpu, std::span<const NvmlField> fields,
              std::vector<Result<Sample>>& samples) const;
    // What the driver's buffer of power samples holds from after `last_ns` (its own stamps), in time order;
    // appended, `channel` 0. Errors: those of `read`.
    [[nodiscard]] Result<void> buffered(const NvmlGpu& gpu, std::int64_t last_ns,
                                        std::vector<Sample>& samples) const;

    [[nodiscard]] std::string driver() const;  // "580.159.04"; "" unknown
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    struct Functions;
    NvmlLibrary();
    [[nodiscard]] Error error(const NvmlGpu& gpu, int status) const;
    [[nodiscard]] std::string say(int status) const;
    std::unique_ptr<Functions> functions_;
    std::string path_;
    bool started_ = false;
};

}  // namespace viridian::meter
