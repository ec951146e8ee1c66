#pragma once
// Probes what the host processor does at most: floating-point operations in a second, and bytes in a second
// from its last cache and from memory. Shares of a peak, and SUBSTATION's memory usage efficiency (section
// III-C), are relative to these.
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/base/statistics.hpp"
#include "viridian/base/units.hpp"

namespace viridian::execute {

enum class Probe : std::uint8_t {
    f32,           // multiply-add on vectors in registers, two flop for each number
    bf16,          // dot products of pairs of bf16, added in f32 (AVX512_BF16), four flop for each sum
    bf16_tiles,    // products of tiles in bf16, added in f32 (AMX)
    cache_read,    // loads from a working set that fits the last cache and none before
    cache_write,   // stores to it
    cache_copy,    // loads from one half of it and stores to the other; both count
    memory_read,   // the same from a working set of several times the last cache
    memory_write,  // stores that bypass the caches, so that no line is read before it is written
    memory_copy,
};
[[nodiscard]] std::string_view name_of(Probe probe);  // "f32", "last cache read"
[[nodiscard]] bool counts_flop(Probe probe);          // otherwise bytes

struct Peak {
    Probe probe = Probe::f32;
    int threads = 1;
    Bytes working_set;  // of all threads; none for arithmetic
    double best = 0;    // flop or bytes in a second, of the fastest round: the peak
    Summary rounds;     // the same of all rounds
};

// Runs every probe that this processor has on one thread, and on `threads` if they are more, in 15 rounds of
// at least 5 ms each. A probe of arithmetic goes on, for up to 3 s in all, while n threads stay below 0.95 n
// times the rate of one: a virtual machine's processors may share a core for a while. Threads stay on
// physical cores of their own if there are enough. The last cache is not probed if its size is unknown.
// Errors: no_device (no AVX2), device_failed (the threads do not start), out_of_memory.
[[nodiscard]] Result<std::vector<Peak>> probe_peaks(int threads);

// Returns the peak of `probe` on `threads` threads; none if it was not probed.
[[nodiscard]] const Peak* find_peak(const std::vector<Peak>& peaks, Probe probe, int threads);

}  // namespace viridian::execute
