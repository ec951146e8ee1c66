#include "viridian/trace/json/json_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>

namespace viridian::trace {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_digit_json_text(char c) { return c >= '0' && c <= '9'; }

// Bytes of the well-formed sequence at `text`, 0 when there is none (Unicode 15, table 3-7).
std::size_t sequence(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        const bool range = lead == 0xE0 ? byte(1) >= 0xA0 : lead == 0xED ? byte(1) <= 0x9F : true;
        return tail(1) && tail(2) && range ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const bool range = lead == 0xF0 ? byte(1) >= 0x90 : lead == 0xF4 ? byte(1) <= 0x8F : true;
        return tail(1) && tail(2) && tail(3) && range ? 4 : 0;
    }
    return 0;
}

void append_utf8(std::string& out, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) return put(0xC0U | code >> 6U), put(0x80U | (code & 0x3FU));
    if (code < 0x10000)
        return put(0xE0U | code >> 12U), put(0x80U | (code >> 6U & 0x3FU)), put(0x80U | (code & 0x3FU));
    put(0xF0U | code >> 18U), put(0x80U | (code >> 12U & 0x3FU)), put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
}

std::optional<std::uint32_t> hex4(std::string_view text) {
    std::uint32_t code = 0;
    if (text.size() < 4) return std::nullopt;
    const auto read = std::from_chars(text.data(), text.data() + 4, code, 16);
    return read.ptr == text.data() + 4 ? std::optional(code) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    const bool negative = at < end && *at == '-';
    if (negative) ++at;
    if (at == end || !is_digit_json_text(*at)) return std::nullopt;
    std::uint64_t whole = 0;
    const char* const digits = at;
    while (at < end && is_digit_json_text(*at)) whole = whole * 10 + static_cast<std::uint64_t>(*at++ - '0');
    std::uint64_t fraction = 0;
    if (at < end && *at == '.') {
        ++at;
        std::uint64_t scale = 100;
        for (; at < end && is_digit_json_text(*at) && scale > 0; scale /= 10)
            fraction += scale * static_cast<std::uint64_t>(*at++ - '0');
        if (at < end && is_digit_json_text(*at) && *at >= '5') ++fraction;
        while (at < end && is_digit_json_text(*at)) ++at;
    }
    if (at != end || at - digits > 60) {  // an exponent, or no number at all
        const std::optional<double> value = number(text);
        if (!value || !(std::abs(*value) < 9.2e15)) return std::nullopt;
        return static_cast<std::int64_t>(std::llround(*value * 1000.0));
    }
    constexpr std::uint64_t most = 9'200'000'000'000'000U;  // about 292 years
    if (whole > most || (at - digits > 19 && number(text).value_or(1e300) > 9.2e15)) return std::nullopt;
    const auto value = static_cast<std::int64_t>(whole * 1000 + fraction);
    return negative ? -value : value;
}

std::optional<std::int64_t> integer(std::string_view text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    if (text.starts_with("0x") || text.starts_with("0X")) {
        std::uint64_t bits = 0;
        const auto read = std::from_chars(text.data() + 2, end, bits, 16);
        return read.ec == std::errc() && read.ptr == end ? std::optional(static_cast<std::int64_t>(bits))
                                                         : std::nullopt;
    }
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec == std::errc() && read.ptr == end) return value;
    if (read.ec == std::errc::result_out_of_range && text.front() != '-') {  // beyond int64: keep the bits
        std::uint64_t bits = 0;
        const auto wide = std::from_chars(text.data(), end, bits);
        if (wide.ec == std::errc() && wide.ptr == end) return static_cast<std::int64_t>(bits);
    }
    const std::optional<double> real = number(text);
    if (!real || !(std::abs(*real) < 9e18)) return std::nullopt;
    return static_cast<std::int64_t>(*real);
}

std::optional<double> number(std::string_view text) {
    double value = 0.0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        while (text.size() >= 8) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, text.data(), 8);
            if ((eight & 0x8080808080808080U) != 0) break;
            text.remove_prefix(8);
        }
        if (text.empty()) break;
        const std::size_t length = sequence(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

void unescape(std::string_view text, std::string& into) {
    into.clear();
    while (!text.empty()) {
        if (text.front() != '\\' || text.size() == 1) {
            const std::size_t length = sequence(text);
            into.append(length == 0 ? replacement : text.substr(0, length));
            text.remove_prefix(length == 0 ? 1 : length);
            continue;
        }
        const char kind = text[1];
        constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
        if (const std::size_t known = from.find(kind); known != std::string_view::npos) {
            into += to[known];
            text.remove_prefix(2);
        } else if (const auto code = kind == 'u' ? hex4(text.substr(2)) : std::nullopt) {
            text.remove_prefix(6);
            const auto low = *code >= 0xD800 && *code < 0xDC00 && text.starts_with("\\u")
                                 ? hex4(text.substr(2))
                                 : std::nullopt;
            if (low && *low >= 0xDC00 && *low < 0xE000) {
                append_utf8(into, 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00));
                text.remove_prefix(6);
            } else if (*code >= 0xD800 && *code < 0xE000) {
                into.append(replacement);
            } else {
                append_utf8(into, *code);
            }
        } else {
            into += '\\';
            text.remove_prefix(1);
        }
    }
}

void append_escaped(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text.front());
        if (c == '"' || c == '\\') {
            out += '\\';
            out += text.front();
        } else if (c < 0x20 || c == 0x7f) {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else if (c < 0x80) {
            out += text.front();
        } else {
            const std::size_t length = sequence(text);
            out.append(length == 0 ? replacement : text.substr(0, length));
            if (length > 1) text.remove_prefix(length - 1);
        }
        text.remove_prefix(1);
    }
    out += '"';
}

void append_microseconds(std::string& out, std::int64_t nanoseconds) {
    const bool negative = nanoseconds < 0;
    const std::uint64_t size =
        negative ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
    if (negative) out += '-';
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, size / 1000).ptr);
    if (const auto rest = static_cast<unsigned>(size % 1000); rest != 0) {
        const char tail[4] = {'.', static_cast<char>('0' + rest / 100),
                              static_cast<char>('0' + rest / 10 % 10), static_cast<char>('0' + rest % 10)};
        out.append(tail, 4);
    }
}

}  // namespace viridian::trace
