#pragma once
// Makes the host processor a device. Its kernels are those of oneDNN, each implementation on its own, and
// ours.
//
// The device has threads of its own (pool/pool.hpp), oneDNN's kernels included. It changes nothing of the
// process that outlives a call: no affinity of the caller, no OpenMP setting, no environment variable, no
// setting of oneDNN. After fork() it works on, in parent and child alike.
#include <sched.h>

#include "viridian/execute/device.hpp"

namespace viridian::execute {

// CpuOptions say how the device uses the processor.
struct CpuOptions {
    int threads = 0;  // 0: default_threads() (base/system/limits.hpp)
    // Keeps worker i on such core i. Both count from 0, and thread 0, the caller, stays unpinned
    // (PinnedCaller), as do the workers of calls that overlap. With more threads than cores, none is pinned.
    bool pin = false;
    Allowances allowances;
    // What values inside If, Loop, Scan and functions may take in a run of one such node; absent: three
    // quarters of what is free. The graph tells the size of all others.
    std::optional<Bytes> memory = std::nullopt;
};

// Returns whether the processor multiplies in bf16 (AVX512_BF16 or AMX) and oneDNN may use it
// (ONEDNN_MAX_CPU_ISA). Otherwise a device that allows bf16 stores in it and computes in f32.
[[nodiscard]] bool multiplies_bf16();

// Makes the device. Errors: no_device (no AVX2), invalid_argument (more than 1024 threads), device_failed
// (the system does not start the threads, oneDNN does not start).
[[nodiscard]] Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options = {});

// A PinnedCaller keeps the calling thread, which is thread 0 of its device, on the first physical core
// while the object lives, and then gives it back the processors that it had. Code that times runs of a
// device with `pin` uses one. If the system refuses, the thread is not pinned.
class PinnedCaller {
  public:
    explicit PinnedCaller(bool pin);  // false: the object does nothing
    ~PinnedCaller();
    PinnedCaller(const PinnedCaller&) = delete;
    PinnedCaller& operator=(const PinnedCaller&) = delete;

  private:
    cpu_set_t before_{};
    bool restores_;
};

}  // namespace viridian::execute
