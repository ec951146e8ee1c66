#pragma once
// Counts how far the mutants of a run came, in a file that outlives a crash.
#include <cstdint>

namespace viridian::fuzz {

// A Stage is the last thing that succeeded for an input.
enum class Stage : std::uint8_t { given, parsed, inferred, simplified, planned, executed };
inline constexpr int stage_count = 6;

// Adds one to the counts of all stages up to `reached`. The counts are `stage_count` numbers of 64 bits in
// the file that the environment variable VIRIDIAN_FUZZ_COUNTS names; without it nothing is counted.
void count(Stage reached);

}  // namespace viridian::fuzz
