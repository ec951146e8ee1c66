#pragma once
// Finds how much of this machine a process may use: the limits of its control groups (a container's or a
// service's), and the number of threads that follows from them and from the environment.
#include <optional>

#include "viridian/base/file.hpp"
#include "viridian/base/units.hpp"

namespace viridian {

// GroupLimits hold the least limits among the process's control groups and the groups above them.
struct GroupLimits {
    std::optional<double> processors;  // processor time a second
    std::optional<Bytes> memory;
};

// Returns the limits of the control groups of version 1 and 2 (Linux, admin-guide/cgroup-v2.rst and
// admin-guide/cgroup-v1). `root` is a folder that has the files of /proc/self and /sys. What cannot be read
// limits nothing: a container may lack some files.
[[nodiscard]] GroupLimits group_limits(const Path& root = "/");

// ThreadDefaults are what the default number of threads follows from.
struct ThreadDefaults {
    std::string viridian_threads, omp_num_threads;  // the variables; empty if they are not set
    std::optional<double> processors;               // GroupLimits::processors
    int cores = 1;                                  // physical cores that the process may use
};

// Returns the first that is given of `viridian_threads`, `omp_num_threads`, and the least of `processors`
// and `cores`. `omp_num_threads` may be a list, whose first number counts, and is ignored if it is none.
// `processors` is rounded down, because threads that exceed it together are all stopped until the system's
// next period. Errors: invalid_argument (`viridian_threads` is not a number from 1 to 1024).
[[nodiscard]] Result<int> default_threads(const ThreadDefaults& defaults);

// Returns the default number of threads of this process. This function is the only one of the library that
// reads environment variables: VIRIDIAN_THREADS and OMP_NUM_THREADS. Errors: invalid_argument.
[[nodiscard]] Result<int> default_threads();

}  // namespace viridian
