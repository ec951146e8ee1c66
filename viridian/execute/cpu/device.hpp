#pragma once
// Makes the host processor a device. Its kernels are those of oneDNN, each implementation on its own, and
// ours.
//
// The device uses the OpenMP team of the thread that calls it. Except for the workers that `pin` pins, it
// changes nothing of the process that outlives a call: no affinity of the caller, no OpenMP setting, no
// environment variable, no setting of oneDNN. After fork() it works on, in parent and child alike (team.hpp).
#include <sched.h>

#include "viridian/execute/device.hpp"

namespace viridian::execute {

// CpuOptions say how the device uses the processor.
struct CpuOptions {
    int threads = 0;  // 0: one per physical core that the process may use
    // Keeps worker i of the team of the thread that makes the device on such core i. Both count from 0, and
    // thread 0, the caller, stays unpinned (PinnedCaller). With more threads than cores, none is pinned.
    bool pin = false;
    Allowances allowances;
};

// Makes the device. Errors: no_device (no AVX2, or no bf16 although it is allowed), invalid_argument (more
// threads than 1024 or OMP_THREAD_LIMIT), device_failed (OpenMP starts fewer threads, oneDNN does not
// start).
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
