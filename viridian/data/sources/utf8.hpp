#pragma once
// Reads and writes characters of UTF-8 text (RFC 3629).
#include <string>
#include <string_view>

namespace viridian::data {

struct Utf8Character {
    char32_t code = 0;
    std::size_t size = 0;  // bytes; 0: no character begins here
};

// Returns the first character of `text`. Overlong forms, surrogates and cut characters are none.
[[nodiscard]] Utf8Character first_character(std::string_view text);
[[nodiscard]] std::string utf8_text(char32_t code);

}  // namespace viridian::data
