#include "viridian/data/sources/utf8.hpp"

namespace viridian::data {

Utf8Character first_character(std::string_view text) {
    if (text.empty()) return {};
    const auto first = static_cast<unsigned char>(text.front());
    if (first < 0x80) return {first, 1};
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) return {};
    char32_t code = first & (0xffU >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0U) != 0x80) return {};
        code = code << 6U | (next & 0x3fU);
    }
    constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
    return {code, size};
}

std::string utf8_text(char32_t code) {
    const auto part = [code](unsigned shift) { return static_cast<char>(0x80U | (code >> shift & 0x3fU)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xc0U | code >> 6U), part(0)};
    if (code < 0x10000) return {static_cast<char>(0xe0U | code >> 12U), part(6), part(0)};
    return {static_cast<char>(0xf0U | code >> 18U), part(12), part(6), part(0)};
}

}  // namespace viridian::data
