#pragma once
// Does the arithmetic of the reference kernels. Integers wrap modulo 2^64, so that no input has undefined
// behaviour.
#include <cstdint>
#include <limits>
#include <type_traits>

namespace viridian::graph {

template <class T>
inline constexpr bool integral = std::is_integral_v<std::remove_cvref_t<T>>;

// Returns `value` as an integer. A fraction is cut off (-2.9 becomes -2), a number beyond the range of
// std::int64_t becomes the nearest end of that range, and NaN becomes 0.
template <class Number>
constexpr std::int64_t to_integer(Number value) {
    if constexpr (std::is_floating_point_v<Number>) {
        constexpr double end = 9223372036854775808.0;  // 2^63
        if (!(value < end)) return value >= end ? std::numeric_limits<std::int64_t>::max() : 0;
        if (value < -end) return std::numeric_limits<std::int64_t>::min();
    }
    return static_cast<std::int64_t>(value);
}

// Returns f(a, b), modulo 2^64 if the arguments are integers.
template <class T, class Function>
constexpr T modulo_word(T a, T b, Function f) {
    if constexpr (integral<T>)
        return static_cast<T>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
    else
        return f(a, b);
}
inline constexpr auto plus = [](auto a, auto b) -> decltype(a) {
    return modulo_word(a, b, [](auto x, auto y) { return x + y; });
};
inline constexpr auto minus = [](auto a, auto b) -> decltype(a) {
    return modulo_word(a, b, [](auto x, auto y) { return x - y; });
};
inline constexpr auto times = [](auto a, auto b) -> decltype(a) {
    return modulo_word(a, b, [](auto x, auto y) { return x * y; });
};
// These return the lesser and the greater argument. If an argument is NaN, so is the result, as in numpy.
inline constexpr auto lesser = [](auto a, auto b) { return a != a ? a : b != b ? b : b < a ? b : a; };
inline constexpr auto greater = [](auto a, auto b) { return a != a ? a : b != b ? b : a < b ? b : a; };

}  // namespace viridian::graph
