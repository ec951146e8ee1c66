#pragma once
// Opens a meter of a process and all its descendants. It reads their busy jiffies by CPU package, the CPU of
// every thread, and the busy jiffies of all processes by package, as EFLECT needs them (docs/account.md, "CPU
// share"). A thread's jiffies go to the package on which the thread is when they are read, so migration is
// followed. Jiffies of a thread that ended between two reads are lost, at most one period of reading.
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

// Opens the meter of the process with the id `process`. procfs and sysfs are looked for below `root`. With
// `placement` each thread has a channel that tells its CPU; without, the list of channels never grows.
// Errors: those of CpuTimesFile. Reading fails with file_not_found when the process is gone.
[[nodiscard]] Result<Meter> open_process_tree(int process, const Path& root = "/", bool placement = true);

struct ThreadTimes {
    std::int64_t ticks = 0;  // jiffies in user and system mode
    int cpu = 0;             // the thread ran there last
    char state = '?';        // procfs's letter, such as R or S
};
// Reads a line of /proc/PID/task/TID/stat. Errors: malformed.
[[nodiscard]] Result<ThreadTimes> parse_thread_stat(std::string_view line);

}  // namespace viridian::meter
