#pragma once
// NvmlLibrary opens NVIDIA's library NVML at run time and reads every field of energy or power that a GPU may
// have. The layouts and numbers are those of nvml.h (stable since NVML 5; scoped power fields since driver
// 530). It only reads: nothing here can change a clock, a limit or a mode.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "viridian/meter/meter.hpp"

namespace viridian::meter {

// An NvmlField is one way of asking a GPU for energy or power.
struct NvmlField {
    std::string_view name;  // "average", "module instant"
    Scope scope = Scope::gpu;
    Kind kind = Kind::power_uw;
    unsigned id = 0;  // for nvmlDeviceGetFieldValues; 0: it has a function of its own (energy, usage, buffer)
    bool buffer = false;  // it is the driver's buffer of samples (nvmlDeviceGetSamples)
};
// Returns all fields: those of the GPU, then of the module, then of the memory, each with the counter first.
[[nodiscard]] std::span<const NvmlField> nvml_fields();

struct NvmlGpu {
    void* handle = nullptr;  // NVML's
    unsigned index = 0;      // in NVML's order, which is that of the PCI bus
    std::string device;      // "cuda:0", by that index
    std::string name, uuid;  // "" if NVML does not tell
    bool mig = false;        // the GPU is in MIG mode
};

class NvmlLibrary {
  public:
    // Loads and starts NVML; `paths` may name the library. Errors: no_device (no library, no driver),
    // no_permission.
    [[nodiscard]] static Result<std::shared_ptr<NvmlLibrary>> open(const MeterPaths& paths);
    NvmlLibrary(const NvmlLibrary&) = delete;
    NvmlLibrary& operator=(const NvmlLibrary&) = delete;
    ~NvmlLibrary();

    struct Listed {
        std::vector<NvmlGpu> gpus;
        std::vector<std::string> refused;  // GPUs that cannot be used: "cuda:1: Insufficient Permissions"
    };
    // Returns all GPUs. Errors: no_device (NVML knows no GPU).
    [[nodiscard]] Result<Listed> gpus() const;

    // Reads each of `fields` on `gpu` and appends one result per field to `samples`, in microjoules or
    // microwatts. All fields of nvmlDeviceGetFieldValues take one call. A sample's stamp is the driver's if
    // it gives one; for a buffer the newest sample is taken. Errors of a field: no_permission, unsupported,
    // device_failed.
    void read(const NvmlGpu& gpu, std::span<const NvmlField> fields,
              std::vector<Result<Sample>>& samples) const;
    // Appends to `samples` those of the driver's buffer of power samples whose stamps (Unix time, ns) are
    // after `last_ns`, in order of time and with `channel` 0. Errors: those of `read`.
    [[nodiscard]] Result<void> buffered(const NvmlGpu& gpu, std::int64_t last_ns,
                                        std::vector<Sample>& samples) const;

    [[nodiscard]] std::string driver() const;  // its version, "580.159.04"; "" if unknown
    [[nodiscard]] const std::string& path() const { return path_; }  // of the library that was loaded

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
