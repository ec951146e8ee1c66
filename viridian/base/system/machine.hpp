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
    int logical_cpus = 1;    // those on which this process may run
    int physical_cores = 1;  // distinct cores among them
    // The CPU's instruction sets among avx2, fma, avx512, avx512_vnni, avx512_bf16, amx_bf16 and amx_int8.
    std::vector<std::string> instruction_sets;
    Bytes l1_data, l2, l3;  // caches of one core (L3: of its cluster); 0 if unknown
    Bytes memory;           // that this process may use
    std::string kernel;     // operating system kernel, "Linux 6.1"
    bool virtual_machine = false;

    [[nodiscard]] bool has(std::string_view instruction_set) const;
    // Returns a text of the model, instruction sets and caches. Machines with equal fingerprints may share
    // measured costs.
    [[nodiscard]] std::string fingerprint() const;
};

// Returns the description of this machine.
[[nodiscard]] Machine this_machine();
[[nodiscard]] Json to_json(const Machine& machine);

// Returns one logical CPU for each physical core that this process may use, in ascending order. Thread i of a
// thread pool is pinned to entry i.
[[nodiscard]] std::vector<int> physical_cpus();
// Pins the calling thread to the logical CPU `cpu`. Errors: no_permission.
[[nodiscard]] Result<void> pin_thread(int cpu);

}  // namespace viridian
