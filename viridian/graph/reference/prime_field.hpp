#pragma once
// A PrimeField is an integer modulo a prime just below 2^31. The two sides of a polynomial rewrite must be
// exactly equal in it, so that the comparison needs no tolerance (docs/method.md, 4).
#include <cstdint>

namespace viridian::graph {

class PrimeField {
  public:
    static constexpr std::uint64_t prime = 2147483629;

    constexpr PrimeField() = default;
    constexpr PrimeField(std::int64_t number)
        : value_(static_cast<std::uint64_t>(number < 0 ? number % static_cast<std::int64_t>(prime) +
                                                             static_cast<std::int64_t>(prime)
                                                       : number) %
                 prime) {}
    [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

    friend constexpr PrimeField operator+(PrimeField a, PrimeField b) {
        return raw((a.value_ + b.value_) % prime);
    }
    friend constexpr PrimeField operator-(PrimeField a, PrimeField b) {
        return raw((a.value_ + prime - b.value_) % prime);
    }
    friend constexpr PrimeField operator*(PrimeField a, PrimeField b) {
        return raw(a.value_ * b.value_ % prime);
    }
    // Multiplies by the inverse, which Fermat's little theorem gives. Division by zero gives zero.
    friend constexpr PrimeField operator/(PrimeField a, PrimeField b) {
        PrimeField inverse(1);
        for (std::uint64_t exponent = prime - 2; exponent != 0; exponent >>= 1U, b = b * b)
            if ((exponent & 1U) != 0) inverse = inverse * b;
        return a * inverse;
    }
    constexpr PrimeField operator-() const { return PrimeField() - *this; }
    constexpr PrimeField& operator+=(PrimeField other) { return *this = *this + other; }
    constexpr PrimeField& operator-=(PrimeField other) { return *this = *this - other; }
    constexpr PrimeField& operator*=(PrimeField other) { return *this = *this * other; }
    constexpr bool operator==(const PrimeField&) const = default;

  private:
    static constexpr PrimeField raw(std::uint64_t value) {
        PrimeField result;
        result.value_ = value;
        return result;
    }
    std::uint64_t value_ = 0;
};

}  // namespace viridian::graph
