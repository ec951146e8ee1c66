#pragma once
// Says which devices of a meter belong to a set of logical CPUs, so that a measurement adds up all processor
// packages that a program runs on, and no others.
#include <span>
#include <string>
#include <vector>

#include "viridian/meter/meter.hpp"

namespace viridian::meter {

// Returns the devices of `meter` ("cpu:0", "cpu:1") that hold `cpus`, by the topology below `paths.root`.
// Returns all processor packages of the meter if `cpus` is empty or the topology is not told there. Errors:
// missing_entry if the meter does not measure one of the packages.
[[nodiscard]] Result<std::vector<std::string>> packages_of(const Meter& meter, std::span<const int> cpus,
                                                           const MeterPaths& paths);

}  // namespace viridian::meter
