#pragma once
// Finds where strings, numbers and containers end in a window of JSON text: the lexical half of the tolerant
// reader (json_events.hpp). The window must be followed by `padding` readable bytes, the first of them NUL.
#include <emmintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace viridian::trace::scan {

inline constexpr std::size_t padding = 64;
// A string or container longer than this is checked for events that it swallowed, because its end was
// missing.
inline constexpr std::ptrdiff_t long_text = 4096;

[[nodiscard]] inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

[[nodiscard]] inline const char* skip_space(const char* at) {
    while (is_space(*at)) ++at;
    return at;
}

// Returns the next quote from `at`, which is inside a string, or `end` if there is none. Sets `escaped` to
// true if a backslash was passed.
[[nodiscard]] inline const char* quote(const char* at, const char* end, bool& escaped) {
    const __m128i quotes = _mm_set1_epi8('"'), slashes = _mm_set1_epi8('\\');
    while (at < end) {
        const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
        const __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(text, quotes), _mm_cmpeq_epi8(text, slashes));
        const auto mask = static_cast<unsigned>(_mm_movemask_epi8(hits));
        if (mask == 0) {
            at += 16;
            continue;
        }
        at += std::countr_zero(mask);
        if (at >= end) return end;
        if (*at == '"') return at;
        escaped = true;
        at += 2;
    }
    return end;
}

// Returns the end of a number, literal or bare word: the next comma, closing bracket, space or control
// character, or `end`.
[[nodiscard]] inline const char* word(const char* at, const char* end) {
    while (at < end && *at != ',' && *at != '}' && *at != ']' && static_cast<unsigned char>(*at) > ' ') ++at;
    return at;
}

// Container skips an object or list. It can stop at the end of a window and go on in the next.
struct Container {
    std::uint32_t depth = 0;
    bool in_string = false;
    bool after_backslash = false;

    // Returns the place after the bracket that closes the outermost container, or `end` if the window ends
    // first; `depth` is then above 0.
    [[nodiscard]] const char* skip(const char* at, const char* end) {
        const __m128i quotes = _mm_set1_epi8('"'), slashes = _mm_set1_epi8('\\');
        const __m128i fold = _mm_set1_epi8(0x20), opens = _mm_set1_epi8('{'), closes = _mm_set1_epi8('}');
        if (after_backslash && at < end) ++at, after_backslash = false;
        while (at < end) {
            const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
            if (in_string) {
                const __m128i hits =
                    _mm_or_si128(_mm_cmpeq_epi8(text, quotes), _mm_cmpeq_epi8(text, slashes));
                const auto mask = static_cast<unsigned>(_mm_movemask_epi8(hits));
                at += mask == 0 ? 16 : std::countr_zero(mask);
                if (mask == 0 || at >= end) continue;
                if (*at == '"') {
                    in_string = false;
                    ++at;
                } else if (at + 2 > end) {
                    after_backslash = true;
                    return end;
                } else {
                    at += 2;
                }
                continue;
            }
            // `[` and `{` differ in one bit, and so do `]` and `}`.
            const __m128i folded = _mm_or_si128(text, fold);
            const __m128i brackets =
                _mm_or_si128(_mm_cmpeq_epi8(folded, opens), _mm_cmpeq_epi8(folded, closes));
            const auto mask = static_cast<unsigned>(
                _mm_movemask_epi8(_mm_or_si128(brackets, _mm_cmpeq_epi8(text, quotes))));
            at += mask == 0 ? 16 : std::countr_zero(mask);
            if (mask == 0 || at >= end) continue;
            const char c = *at++;
            if (c == '"')
                in_string = true;
            else if (c == '{' || c == '[')
                ++depth;
            else if (--depth == 0)
                return at;
        }
        return end;
    }
};

}  // namespace viridian::trace::scan
