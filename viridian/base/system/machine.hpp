#pragma once
// Describes the CPU and memory of this machine: enough for a fingerprint of prices, a default number of
// threads and `viridian doctor`.
#include <cstdint>
#include <string>
#include <vector>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/base/units.hpp"

namespace viridian {

struct Machine {
    std::string cpu_model;   // "AMD EPYC 9654", as the CPU says
    int logical_cpus = 1;    // those this process may run on
    int physical_cores = 1;  // distinct cores among them
    std::vector<std::string>
        instruction_sets;   // of: avx2 fma avx512 avx512_vnni avx512_bf16 amx_bf16 amx_int8
    Bytes l1_data, l2, l3;  // of one core (L3: of its cluster); 0 if unknown
    Bytes memory;
    std::string kernel;  // operating system kernel, "Linux 6.1"
    bool virtual_machine = false;

    [[nodiscard]] bool has(std::string_view instruction_set) const;
    // Equal fingerprints mean that measured costs may be shared. Holds model, instruction sets, caches.
    [[nodiscard]] std::string fingerprint() const;
};

[[nodiscard]] Machine this_machine();
[[nodiscard]] Json to_json(const Machine& machine);

// One logical CPU per physical core this process may use, in order. Thread i belongs on entry i.
[[nodiscard]] std::vector<int> physical_cpus();
// Pins the calling thread. Errors: no_permission.
[[nodiscard]] Result<void> pin_thread(int cpu);

}  // namespace viridian
