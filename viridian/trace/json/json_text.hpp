#pragma once
// Reads the values of JSON text (numbers as exact nanoseconds or integers, strings without their escapes) and
// makes text safe to be written as JSON.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace viridian::trace {

// Reads "1712195495519689.047" microseconds as 1712195495519689047 ns, without a double in between; exponents
// are read too. Digits beyond the nanosecond are rounded. Gives nothing if the text is no number or does not
// fit.
[[nodiscard]] std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> integer(std::string_view text);  // decimal, or 0x...
[[nodiscard]] std::optional<double> number(std::string_view text);

// Writes the string between the quotes, without escapes, into `into`. Broken escapes are kept as they are;
// lone surrogates and invalid UTF-8 become U+FFFD.
void unescape(std::string_view text, std::string& into);
[[nodiscard]] bool is_utf8(std::string_view text);
void append_escaped(std::string& out, std::string_view text);  // with quotes; invalid UTF-8 becomes U+FFFD

// Writes 1712195495519689047 ns as "1712195495519689.047"; "12" when there is no fraction.
void append_microseconds(std::string& out, std::int64_t nanoseconds);

}  // namespace viridian::trace
