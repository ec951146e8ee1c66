#pragma once
// The host processor as a device. Its kernels are those of oneDNN, each implementation on its own, and ours.
//
// The device uses the OpenMP team of the thread that calls it, and changes nothing of the process that
// outlives a call: no affinity of the caller, no OpenMP setting, no environment variable, no setting of
// oneDNN. After fork() it works on, in parent and child alike (team.hpp).
#include <sched.h>

#include "viridian/execute/device.hpp"

namespace viridian::execute {

struct CpuOptions {
    int threads = 0;   // 0: one per physical core that the process may use
    bool pin = false;  // keep worker i, from 1 on, of the thread that makes the device on the i-th such core
    Allowances allowances;
};

// Errors: no_device (no AVX2, or no bf16 although it is allowed), invalid_argument (more threads than 1024 or
// OMP_THREAD_LIMIT),
// device_failed (OpenMP starts fewer threads, oneDNN does not start).
[[nodiscard]] Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options = {});

// Keeps the calling thread, which is thread 0 of its device, on the first physical core while the object
// lives, and then gives it back the processors that it had. Whoever times runs of a device with `pin` wants
// one. If the system refuses, the thread floats.
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
