#pragma once
// The host processor as a device: oneDNN's kernels, each implementation on its own, and ours where those are
// slow.
#include "viridian/execute/device.hpp"

namespace viridian::execute {

struct CpuOptions {
    int threads = 0;  // 0: one per physical core
    bool pin = true;  // thread i stays on the i-th physical core
    Allowances allowances;
};

// Errors: no_device (no AVX2, no bf16), invalid_argument (more than 1024 threads).
[[nodiscard]] Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options = {});

// Whether the plan, wherever it comes from, asks for nothing but what the device offers: every region one
// that plans may have, every choice one of its kernel's for that region (in bf16 where the plan is). Errors:
// mismatch, naming the node.
[[nodiscard]] Result<void> check_offered(Device& device, const graph::Graph& graph, const plan::Plan& plan);

}  // namespace viridian::execute
