#pragma once
// Defines energy in exact integers: units of 2^-32 microjoules, 128 bits wide. Sums of exact energies are
// associative, so that the parts of a meter's total add up to that total, to the last unit.
#include <cstdint>

#include "viridian/base/units.hpp"

namespace viridian::meter {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

using Nanoseconds = std::int64_t;
using Exact = Int128;  // energy, 2^-32 uJ

// Convert between exact energies, whole microjoules and joules. `microjoules` rounds to the nearest;
// `exact_joules` needs |energy| < 1e12 J.
constexpr Exact exact_microjoules(std::int64_t microjoules) { return Exact{microjoules} << 32; }
constexpr Joules joules(Exact energy) { return Joules(static_cast<double>(energy) * (1e-6 / 4294967296.0)); }
constexpr std::int64_t microjoules(Exact energy) {
    return static_cast<std::int64_t>((energy + (Exact{1} << 31)) >> 32);
}
constexpr Exact exact_joules(double energy) { return static_cast<Exact>(energy * 1e6 * 4294967296.0); }

}  // namespace viridian::meter
