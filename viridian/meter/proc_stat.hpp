#pragma once
// CPU time from procfs: jiffies that each logical CPU was busy, and which package a CPU belongs to.
#include <vector>

#include "viridian/base/file.hpp"

namespace viridian::meter {

struct CpuTimes {
    std::vector<std::int64_t>
        busy;  // jiffies by logical CPU: user, nice, system, irq, softirq (not steal, guest twice)
    std::vector<std::int64_t> idle;  // idle and iowait
};

// `root`/proc/stat. Errors: file_unreadable, file_not_found, malformed.
[[nodiscard]] Result<CpuTimes> read_cpu_times(const Path& root);
[[nodiscard]] Result<CpuTimes> parse_cpu_times(std::string_view text);
// Package of each logical CPU from `root`/sys/devices/system/cpu; all 0 where unknown.
[[nodiscard]] std::vector<int> cpu_packages(const Path& root, std::size_t cpus);
[[nodiscard]] std::int64_t jiffies_per_second();

}  // namespace viridian::meter
