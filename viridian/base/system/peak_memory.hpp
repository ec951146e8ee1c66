#pragma once
// Reads the largest memory that this process has held, for comparisons with other programs.
#include "viridian/base/units.hpp"

namespace viridian {

// Returns the largest resident memory of this process since it began: VmHWM of proc(5), which also counts the
// pages of the program and its libraries that were touched. Zero if the system does not tell.
[[nodiscard]] Bytes peak_memory();

}  // namespace viridian
