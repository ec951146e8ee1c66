#pragma once
// Reads the values of JSON text (numbers as exact nanoseconds or integers, strings without their escapes) and
// makes text safe to be written as JSON.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace viridian::trace {

// Reads "1712195495519689.047" microseconds as 1712195495519689047 ns, without a double in between; only text
// with an exponent goes through a double. Digits beyond the nanosecond are rounded. Returns nothing if the
// text is no number or does not fit.
[[nodiscard]] std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text);
// Read the whole of `text` as an integer (decimal, or 0x...) or as a finite number. `integer` drops a
// fraction, and keeps the bits of an integer from 2^63 to 2^64 − 1. They return nothing if the text is
// something else.
[[nodiscard]] std::optional<std::int64_t> integer(std::string_view text);
[[nodiscard]] std::optional<double> number(std::string_view text);

// Replaces `into` by the string whose text between the quotes is `text`, with its escapes undone. Broken
// escapes are kept as they are; lone surrogates and invalid UTF-8 become U+FFFD.
void unescape(std::string_view text, std::string& into);
[[nodiscard]] bool is_utf8(std::string_view text);
// Appends `text` to `out` as a JSON string with quotes. Invalid UTF-8 becomes U+FFFD.
void append_escaped(std::string& out, std::string_view text);

// Appends `nanoseconds` to `out` as microseconds: 1712195495519689047 as "1712195495519689.047", and 12000 as
// "12".
void append_microseconds(std::string& out, std::int64_t nanoseconds);

}  // namespace viridian::trace
