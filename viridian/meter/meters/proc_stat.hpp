#pragma once
// Reads CPU time from procfs: the jiffies for which each logical CPU was busy, and the package of each CPU.
#include <optional>
#include <vector>

#include "viridian/meter/meters/read_number.hpp"

namespace viridian::meter {

struct CpuTimes {
    // Jiffies by logical CPU: user, nice, system, irq and softirq. Steal is left out; guest is in user.
    std::vector<std::int64_t> busy;
    std::vector<std::int64_t> idle;  // idle and iowait
};

// CpuTimesFile keeps `root`/proc/stat open. A read costs one system call and allocates nothing after the
// first. Errors, here and below: file_not_found, no_permission, file_unreadable, malformed.
class CpuTimesFile {
  public:
    [[nodiscard]] static Result<CpuTimesFile> open(const Path& root);
    [[nodiscard]] Result<void> read(CpuTimes& times);

  private:
    explicit CpuTimesFile(KernelFile file) : file_(std::move(file)) {}
    KernelFile file_;
    std::string text_;
};
// Reads the times once.
[[nodiscard]] Result<CpuTimes> read_cpu_times(const Path& root);
// Reads the times from `text`, the content of /proc/stat.
[[nodiscard]] Result<void> parse_cpu_times(std::string_view text, CpuTimes& times);
// Returns the processor package of the logical CPU `cpu`, from `root`/sys/devices/system/cpu. Nothing if the
// kernel does not tell it.
[[nodiscard]] std::optional<int> package_of(const Path& root, int cpu);
// Returns the packages of the logical CPUs 0 to `cpus` - 1. Unknown ones are 0.
[[nodiscard]] std::vector<int> cpu_packages(const Path& root, std::size_t cpus);
[[nodiscard]] std::int64_t jiffies_per_second();

}  // namespace viridian::meter
