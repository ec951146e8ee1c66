#pragma once
// Defines strong types for physical quantities (SI: J, W, s, Hz; bytes; floating-point operations). No bare
// double crosses a room for a quantity: Watts * Seconds is Joules, and adding seconds to joules does not
// compile.
#include <compare>
#include <cstdint>

namespace viridian {

template <class Tag, class Representation = double>
struct Quantity {
    Representation value{};

    constexpr Quantity() = default;
    constexpr explicit Quantity(Representation v) : value(v) {}

    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity operator-() const { return Quantity(-value); }
    constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
    constexpr Quantity& operator-=(Quantity other) { return value -= other.value, *this; }
    constexpr Quantity& operator*=(Representation factor) { return value *= factor, *this; }

    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
    friend constexpr Quantity operator*(Quantity a, Representation f) { return Quantity(a.value * f); }
    friend constexpr Quantity operator*(Representation f, Quantity a) { return Quantity(a.value * f); }
    friend constexpr Quantity operator/(Quantity a, Representation f) { return Quantity(a.value / f); }
    friend constexpr double operator/(Quantity a, Quantity b) {
        return static_cast<double>(a.value) / static_cast<double>(b.value);
    }
};

using Joules = Quantity<struct JoulesTag>;
using Watts = Quantity<struct WattsTag>;
using Seconds = Quantity<struct SecondsTag>;
using Hertz = Quantity<struct HertzTag>;
using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Flop = Quantity<struct FlopTag, std::int64_t>;

constexpr Joules operator*(Watts p, Seconds t) { return Joules(p.value * t.value); }
constexpr Joules operator*(Seconds t, Watts p) { return p * t; }
constexpr Watts operator/(Joules e, Seconds t) { return Watts(e.value / t.value); }
constexpr Seconds operator/(Joules e, Watts p) { return Seconds(e.value / p.value); }

}  // namespace viridian
