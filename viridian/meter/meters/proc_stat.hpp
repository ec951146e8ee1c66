#pragma once
// Reads CPU time from procfs: the jiffies that each logical CPU was busy, and which package a CPU belongs to.
#include <vector>

#include "viridian/meter/meters/read_number.hpp"

namespace viridian::meter {

struct CpuTimes {
    std::vector<std::int64_t>
        busy;  // jiffies by logical CPU: user, nice, system, irq, softirq (not steal, guest twice)
    std::vector<std::int64_t> idle;  // idle and iowait
};

// `root`/proc/stat, kept open: a read costs one system call and allocates nothing after the first.
// Errors: file_not_found, file_unreadable, malformed.
class CpuTimesFile {
  public:
    [[nodiscard]] static Result<CpuTimesFile> open(const Path& root);
    [[nodiscard]] Result<void> read(CpuTimes& times);

  private:
    explicit CpuTimesFile(KernelFile file) : file_(std::move(file)) {}
    KernelFile file_;
    std::string text_;
};
[[nodiscard]] Result<CpuTimes> read_cpu_times(const Path& root);
[[nodiscard]] Result<void> parse_cpu_times(std::string_view text, CpuTimes& times);
// Package of each logical CPU from `root`/sys/devices/system/cpu; all 0 if unknown.
[[nodiscard]] std::vector<int> cpu_packages(const Path& root, std::size_t cpus);
[[nodiscard]] std::int64_t jiffies_per_second();

}  // namespace viridian::meter
