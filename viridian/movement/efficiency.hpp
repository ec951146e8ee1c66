#pragma once
// efficiency_of() says how well an operator used the processor in the time that it took: its share of peak
// arithmetic, and its memory usage efficiency (MUE; SUBSTATION, section III-C; Fuhrer et al., GMD 11, 2018).
#include <string_view>

#include "viridian/base/units.hpp"

namespace viridian::movement {

// A Ceiling is what the processor does at most, and the sizes of its caches.
struct Ceiling {
    double flop_in_a_second = 0;
    double bytes_in_a_second = 0;  // from memory
    Bytes near_cache;              // of one core; 0 if unknown
    Bytes last_cache;              // 0 if unknown
};

// A Demand is what an operator must do, whoever computes it.
struct Demand {
    Flop flop;
    Bytes moved;           // each tensor that it reads or writes, once
    bool product = false;  // a product of matrices: flop is 2mnk
    int word_bytes = 4;    // of an element of its matrices
};

enum class Bound : std::uint8_t { arithmetic, memory };
enum class Residency : std::uint8_t { near_cache, last_cache, memory };
[[nodiscard]] std::string_view name_of(Bound bound);          // "arithmetic", "memory"
[[nodiscard]] std::string_view name_of(Residency residency);  // "L2", "L3", "memory"

struct Efficiency {
    Bytes least;  // bytes that must pass between memory and a cache of the last one's size: the bound Q
    double percent_of_peak = 0;
    // 100 · (Q / D) · (B / B̂): D is what moved and B = D / seconds, so D cancels out. It exceeds 100 for
    // tensors that stay in a cache.
    double mue = 0;
    Residency residency = Residency::memory;  // the smallest place that holds all that is moved
    Bound bound = Bound::memory;              // memory if the MUE is larger than the share of peak arithmetic
};

// Q is `demand.moved`, or for a product of matrices, if that is more, 2mnk/√S words, S being
// the words of the last cache (Hong and Kung, STOC 1981). `seconds` is above 0.
[[nodiscard]] Efficiency efficiency_of(const Demand& demand, Seconds seconds, const Ceiling& ceiling);

}  // namespace viridian::movement
