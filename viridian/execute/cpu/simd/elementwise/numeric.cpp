#include "viridian/execute/cpu/simd/elementwise/numeric.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/elementwise/numeric.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using graph::ElementType;

// f(T{}) for the type's C++ type; false where there is none.
template <class F>
bool with_type(ElementType type, const F& f) {
    switch (type) {
        case ElementType::f64:
            return f(double{}), true;
        case ElementType::f32:
            return f(float{}), true;
        case ElementType::i64:
            return f(std::int64_t{}), true;
        case ElementType::i32:
            return f(std::int32_t{}), true;
        case ElementType::i16:
            return f(std::int16_t{}), true;
        case ElementType::i8:
            return f(std::int8_t{}), true;
        case ElementType::u64:
            return f(std::uint64_t{}), true;
        case ElementType::u32:
            return f(std::uint32_t{}), true;
        case ElementType::u16:
            return f(std::uint16_t{}), true;
        case ElementType::u8:
        case ElementType::boolean:
            return f(std::uint8_t{}), true;
        default:
            return false;
    }
}

// Integers as unsigned words of 64 bits, whose arithmetic wraps.
template <class T>
std::uint64_t word(T x) {
    return static_cast<std::uint64_t>(x);
}

struct Wrapping {
    template <class T, class F>
    static T apply(T a, T b, const F& f) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(f(word(a), word(b)));
        else
            return f(a, b);
    }
};

template <class T>
T divided(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b == 0) return 0;
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - word(a));
    }
    return static_cast<T>(a / b);
}

template <class T, bool c_like>
T rest_of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b == 0 || b == static_cast<T>(-1))
            return std::is_signed_v<T> || b == 0 ? T{0} : static_cast<T>(a % b);
        const T rest = static_cast<T>(a % b);
        return !c_like && rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    } else {
        const T rest = std::fmod(a, b);
        return !c_like && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
}

template <class T>
T power(T base, T exponent) {
    if constexpr (std::is_integral_v<T>) {
        if (exponent < 0) {
            if (base == 1) return 1;
            return static_cast<T>(base == static_cast<T>(-1) ? (exponent % 2 == 0 ? 1 : -1) : 0);
        }
        std::uint64_t result = 1, factor = word(base);
        for (std::uint64_t left = word(exponent); left != 0; left /= 2, factor *= factor)
            if (left % 2 != 0) result *= factor;
        return static_cast<T>(result);
    } else {
        return static_cast<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    }
}

template <class T, class F>
bool each(const std::byte* a, const std::byte* b, std::byte* to, std::int64_t n, const F& f) {
    using R = std::conditional_t<std::is_same_v<decltype(f(T{}, T{})), bool>, std::uint8_t, T>;
    const auto* x = reinterpret_cast<const T*>(a);
    const auto* y = reinterpret_cast<const T*>(b);
    auto* z = reinterpret_cast<R*>(to);
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<R>(f(x[i], y[i]));
    return true;
}

template <class T>
bool binary_of(Operation operation, const std::byte* a, const std::byte* b, std::byte* to, std::int64_t n) {
    constexpr bool whole = std::is_integral_v<T>;
    switch (operation) {
        case Operation::add:
            return each<T>(a, b, to, n, [](T x, T y) {
                return Wrapping::apply(x, y, [](auto u, auto v) { return u + v; });
            });
        case Operation::sub:
            return each<T>(a, b, to, n, [](T x, T y) {
                return Wrapping::apply(x, y, [](auto u, auto v) { return u - v; });
            });
        case Operation::mul:
            return each<T>(a, b, to, n, [](T x, T y) {
                return Wrapping::apply(x, y, [](auto u, auto v) { return u * v; });
            });
        case Operation::div:
            return each<T>(a, b, to, n, [](T x, T y) { return divided(x, y); });
        case Operation::mod:
            return each<T>(a, b, to, n, [](T x, T y) { return rest_of<T, false>(x, y); });
        case Operation::fmod:
            return each<T>(a, b, to, n, [](T x, T y) { return rest_of<T, true>(x, y); });
        case Operation::pow:
            return each<T>(a, b, to, n, [](T x, T y) { return power(x, y); });
        case Operation::min:
            return each<T>(a, b, to, n, [](T x, T y) { return x != x ? x : y != y ? y : y < x ? y : x; });
        case Operation::max:
            return each<T>(a, b, to, n, [](T x, T y) { return x != x ? x : y != y ? y : x < y ? y : x; });
        case Operation::prelu:
            return each<T>(a, b, to, n, [](T x, T y) {
                return x < 0 ? Wrapping::apply(x, y, [](auto u, auto v) { return u * v; }) : x;
            });
        case Operation::equal:
            return each<T>(a, b, to, n, [](T x, T y) { return x == y; });
        case Operation::less:
            return each<T>(a, b, to, n, [](T x, T y) { return x < y; });
        case Operation::less_equal:
            return each<T>(a, b, to, n, [](T x, T y) { return x <= y; });
        case Operation::greater:
            return each<T>(a, b, to, n, [](T x, T y) { return x > y; });
        case Operation::greater_equal:
            return each<T>(a, b, to, n, [](T x, T y) { return x >= y; });
        case Operation::logical_and:
            return each<T>(a, b, to, n, [](T x, T y) { return ((x != 0) & (y != 0)) ? true : false; });
        case Operation::logical_or:
            return each<T>(a, b, to, n, [](T x, T y) { return ((x != 0) | (y != 0)) ? true : false; });
        case Operation::logical_xor:
            return each<T>(a, b, to, n, [](T x, T y) { return (x != 0) != (y != 0); });
        default:
            break;
    }
    if constexpr (whole) switch (operation) {
            case Operation::bit_and:
                return each<T>(a, b, to, n, [](T x, T y) { return static_cast<T>(x & y); });
            case Operation::bit_or:
                return each<T>(a, b, to, n, [](T x, T y) { return static_cast<T>(x | y); });
            case Operation::bit_xor:
                return each<T>(a, b, to, n, [](T x, T y) { return static_cast<T>(x ^ y); });
            case Operation::shift_left:
                return each<T>(a, b, to, n, [](T x, T y) {
                    return word(y) >= 64 ? T{0} : static_cast<T>(word(x) << word(y));
                });
            case Operation::shift_right:
                return each<T>(a, b, to, n, [](T x, T y) {
                    return word(y) >= 64 ? T{0} : static_cast<T>(word(x) >> word(y));
                });
            default:
                break;
        }
    return false;
}

bool binary(Operation operation, ElementType type, const std::byte* a, const std::byte* b, std::byte* to,
            std::int64_t n) {
    bool done = false;
    with_type(type, [&](auto t) { done = binary_of<decltype(t)>(operation, a, b, to, n); });
    return done;
}

template <class T, class F>
bool each(const std::byte* a, std::byte* to, std::int64_t n, const F& f) {
    return each<T>(a, a, to, n, [&](T x, T) { return f(x); });
}

template <class T>
bool unary_of(Change change, const std::byte* x, std::byte* to, std::int64_t n) {
    constexpr bool whole = std::is_integral_v<T>;
    const auto negated = [](T v) {
        if constexpr (whole)
            return static_cast<T>(0 - word(v));
        else
            return -v;
    };
    switch (change) {
        case Change::neg:
            return each<T>(x, to, n, negated);
        case Change::abs:
            return each<T>(x, to, n, [&](T v) {
                if constexpr (whole)
                    return v < 0 ? negated(v) : v;
                else
                    return std::abs(v);
            });
        case Change::sign:
            return each<T>(x, to, n, [](T v) { return v > 0 ? T(1) : v < 0 ? static_cast<T>(-1) : v; });
        case Change::bit_not:
            if constexpr (whole) return each<T>(x, to, n, [](T v) { return static_cast<T>(~v); });
            return false;
        case Change::logical_not:
            return each<T>(x, to, n, [](T v) { return v == 0; });
        case Change::is_nan:
            return each<T>(x, to, n, [](T v) { return v != v; });
        default:
            break;
    }
    if constexpr (!whole) {
        constexpr T infinity = std::numeric_limits<T>::infinity();
        if (change == Change::is_infinite)
            return each<T>(x, to, n, [](T v) { return v == infinity || v == -infinity; });
        if (change == Change::is_positive_infinite)
            return each<T>(x, to, n, [](T v) { return v == infinity; });
        if (change == Change::is_negative_infinite)
            return each<T>(x, to, n, [](T v) { return v == -infinity; });
    }
    return false;
}

bool unary(Change change, ElementType type, const std::byte* x, std::byte* to, std::int64_t n) {
    bool done = false;
    with_type(type, [&](auto t) { done = unary_of<decltype(t)>(change, x, to, n); });
    return done;
}

// What ONNX leaves open saturates at 64 bits, then wraps; NaN gives 0.
template <class To>
To truncated(double x) {
    if (x != x) return 0;
    if (std::is_same_v<To, std::uint64_t>) {
        if (x >= 0x1p64) return static_cast<To>(-1);
        if (x >= 0x1p63) return static_cast<To>(static_cast<std::uint64_t>(x));
    }
    if (x >= 0x1p63) return static_cast<To>(INT64_MAX);
    if (x < -0x1p63) return static_cast<To>(INT64_MIN);
    return static_cast<To>(static_cast<std::int64_t>(x));
}

void convert(ElementType from, const std::byte* x, ElementType to, std::byte* y, std::int64_t n) {
    with_type(from, [&](auto f) {
        using From = decltype(f);
        const auto* source = reinterpret_cast<const From*>(x);
        if (to == ElementType::boolean) {
            auto* target = reinterpret_cast<std::uint8_t*>(y);
            for (std::int64_t i = 0; i < n; ++i) target[i] = source[i] != 0 ? 1 : 0;
            return;
        }
        with_type(to, [&](auto t) {
            using To = decltype(t);
            auto* target = reinterpret_cast<To*>(y);
            for (std::int64_t i = 0; i < n; ++i)
                if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
                    target[i] = truncated<To>(static_cast<double>(source[i]));
                else
                    target[i] = static_cast<To>(source[i]);
        });
    });
}

template <class Word>
void choose_words(const std::uint8_t* condition, const std::byte* a, const std::byte* b, std::byte* to,
                  std::int64_t n) {
    const hn::ScalableTag<Word> d;
    const hn::Rebind<std::uint8_t, decltype(d)> bytes;
    const auto *yes = reinterpret_cast<const Word*>(a), *no = reinterpret_cast<const Word*>(b);
    auto* const chosen = reinterpret_cast<Word*>(to);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto flags = hn::LoadU(bytes, condition + i);
        const auto holds = [&]() HWY_ATTR {
            if constexpr (sizeof(Word) == 1)
                return hn::Ne(flags, hn::Zero(d));
            else
                return hn::Ne(hn::PromoteTo(d, flags), hn::Zero(d));
        }();
        hn::StoreU(hn::IfThenElse(holds, hn::LoadU(d, yes + i), hn::LoadU(d, no + i)), d, chosen + i);
    }
    for (; i < n; ++i) chosen[i] = condition[i] != 0 ? yes[i] : no[i];
}

void choose(std::int64_t size, const std::uint8_t* condition, const std::byte* a, const std::byte* b,
            std::byte* to, std::int64_t n) {
    if (size == 1) choose_words<std::uint8_t>(condition, a, b, to, n);
    if (size == 2) choose_words<std::uint16_t>(condition, a, b, to, n);
    if (size == 4) choose_words<std::uint32_t>(condition, a, b, to, n);
    if (size != 8) return;
    for (std::int64_t i = 0; i < n; ++i)
        reinterpret_cast<std::uint64_t*>(to)[i] =
            reinterpret_cast<const std::uint64_t*>(condition[i] != 0 ? a : b)[i];
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

using graph::ElementType;

HWY_EXPORT(binary);
HWY_EXPORT(unary);
HWY_EXPORT(convert);
HWY_EXPORT(choose);

bool has_loop(Operation operation, ElementType type) {
    return HWY_DYNAMIC_DISPATCH(binary)(operation, type, nullptr, nullptr, nullptr, 0);
}
bool has_loop(Change change, ElementType type) {
    return HWY_DYNAMIC_DISPATCH(unary)(change, type, nullptr, nullptr, 0);
}
void apply(Operation operation, ElementType type, const std::byte* a, const std::byte* b, std::byte* to,
           std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(binary)(operation, type, a, b, to, n);
}
void apply(Change change, ElementType type, const std::byte* x, std::byte* to, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(unary)(change, type, x, to, n);
}

void select(std::int64_t size, const std::byte* condition, const std::byte* a, const std::byte* b,
            std::byte* to, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(choose)(size, reinterpret_cast<const std::uint8_t*>(condition), a, b, to, n);
}

void cast(ElementType from, const std::byte* x, ElementType to, std::byte* y, std::int64_t n) {
    const auto half = [](ElementType type) { return type == ElementType::f16 || type == ElementType::bf16; };
    constexpr std::int64_t piece = 256;
    alignas(64) float wide[piece];
    for (std::int64_t at = 0; at < n; at += piece) {
        const std::int64_t count = std::min(piece, n - at);
        const std::byte* source = x + at * graph::size_of(from);
        std::byte* target = y + at * graph::size_of(to);
        ElementType have = from;
        if (half(from)) {
            const auto* bits = reinterpret_cast<const std::uint16_t*>(source);
            for (std::int64_t i = 0; i < count; ++i)
                wide[i] =
                    from == ElementType::f16 ? graph::from_half(bits[i]) : graph::from_bfloat16(bits[i]);
            source = reinterpret_cast<const std::byte*>(wide);
            have = ElementType::f32;
        }
        if (!half(to)) {
            HWY_DYNAMIC_DISPATCH(convert)(have, source, to, target, count);
            continue;
        }
        if (have != ElementType::f32) {
            HWY_DYNAMIC_DISPATCH(convert)
            (have, source, ElementType::f32, reinterpret_cast<std::byte*>(wide), count);
            source = reinterpret_cast<const std::byte*>(wide);
        }
        const auto* numbers = reinterpret_cast<const float*>(source);
        auto* bits = reinterpret_cast<std::uint16_t*>(target);
        for (std::int64_t i = 0; i < count; ++i)
            bits[i] = to == ElementType::f16 ? graph::to_half(numbers[i]) : graph::to_bfloat16(numbers[i]);
    }
}

}  // namespace viridian::execute::cpu::simd
#endif
