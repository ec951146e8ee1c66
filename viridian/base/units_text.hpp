#pragma once
// Writes numbers for people: measured ones with a metric prefix, counts with their noun, sizes of memory.
// Reads sizes.
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "viridian/base/result.hpp"
#include "viridian/base/units.hpp"

namespace viridian {

// Returns `value`, which is in `unit`, as text: 0.00123 and "s" give "1.23 ms".
[[nodiscard]] std::string quantity(double value, const char* unit);

// Returns the size as text: "512 bytes", "1.5 GiB".
[[nodiscard]] std::string size_text(Bytes bytes);
// Does the same, but rounds up: whoever allows the size that is printed allows enough.
[[nodiscard]] std::string size_text_up(Bytes bytes);
// Reads a size above 0: a number, which may have a fraction if a unit follows, and one of B, kB, MB, GB, TB
// (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024), in any case; bytes without one. Errors:
// invalid_argument.
[[nodiscard]] Result<Bytes> parse_size(std::string_view text);

// Returns `count`, which is not negative, and its noun: "1 stage", "3 stages". Without `plural` it ends in s.
[[nodiscard]] std::string counted_text(std::uint64_t count, std::string_view noun, std::string_view plural);
template <std::integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view noun, std::string_view plural = {}) {
    return counted_text(static_cast<std::uint64_t>(count), noun, plural);
}

}  // namespace viridian
