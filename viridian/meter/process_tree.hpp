#pragma once
// A meter of a process and all its descendants: busy jiffies by CPU package (each thread's ticks go to the
// package it is on when they are read, so migration is followed), the CPU of every thread, and the jiffies of
// all processes on that package, as EFLECT needs them (docs/account.md, "CPU share"). Ticks of a thread that
// ended between two reads are lost to it; they are at most one period long.
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

// Errors while reading: file_not_found once the process is gone. Without `placement` there are no channels of
// threads: the list of channels then never grows.
[[nodiscard]] Result<Meter> open_process_tree(int process, const Path& root = "/", bool placement = true);

struct ThreadTimes {
    std::int64_t ticks = 0;
    int cpu = 0;
    char state = '?';
};
// A line of /proc/PID/task/TID/stat. Errors: malformed.
[[nodiscard]] Result<ThreadTimes> parse_thread_stat(std::string_view line);

}  // namespace viridian::meter
