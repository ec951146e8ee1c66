// Mathematical functions of one input.
#include <cmath>

#include "viridian/graph/operators/elementwise.hpp"
#include "viridian/graph/operators/families.hpp"

namespace viridian::graph {
namespace {

// Integers negate modulo 2^64, as they are stored.
constexpr auto negate = [](auto x) -> decltype(x) {
    if constexpr (std::is_integral_v<decltype(x)>)
        return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));
    else
        return -x;
};
constexpr auto absolute = [](auto x) -> decltype(x) {
    if constexpr (std::is_integral_v<decltype(x)>)
        return x < 0 ? negate(x) : x;
    else
        return std::abs(x);
};
constexpr auto sign = [](auto x) -> decltype(x) { return x > 0 ? 1 : x < 0 ? -1 : x; };
constexpr auto same = [](auto x) { return x; };

template <class Function>
constexpr OperatorRow polynomial_row(std::string_view name, NumericSafety safety, Function function) {
    OperatorRow row = unary_row(name, safety, function);
    row.reference =
        polynomial_kernel([](auto& call) -> Result<void> { return each_element(call, Function{}); });
    return row;
}

constexpr OperatorRow identity() {
    OperatorRow row = polynomial_row("Identity", NumericSafety::clear, same);
    row.operator_class = OperatorClass::movement;
    return row;
}

constexpr OperatorRow rows[] = {
    identity(),
    polynomial_row("Neg", NumericSafety::clear, negate),
    unary_row("Abs", NumericSafety::clear, absolute),
    unary_row("Sign", NumericSafety::clear, sign),
    polynomial_row("Reciprocal", NumericSafety::infer,
                   [](auto x) {
                       if constexpr (std::is_integral_v<decltype(x)>)
                           return x == 0 ? 0 : 1 / x;
                       else
                           return decltype(x)(1) / x;
                   }),
    unary_row("Sqrt", NumericSafety::infer, [](double x) { return std::sqrt(x); }),
    unary_row("Exp", NumericSafety::deny, [](double x) { return std::exp(x); }),
    unary_row("Log", NumericSafety::infer, [](double x) { return std::log(x); }),
    unary_row("Erf", NumericSafety::infer, [](double x) { return std::erf(x); }),
    unary_row("Ceil", NumericSafety::clear, [](double x) { return std::ceil(x); }),
    unary_row("Floor", NumericSafety::clear, [](double x) { return std::floor(x); }),
    unary_row("Round", NumericSafety::clear, [](double x) { return std::nearbyint(x); }),  // half to even
    unary_row("Sin", NumericSafety::deny, [](double x) { return std::sin(x); }),
    unary_row("Cos", NumericSafety::deny, [](double x) { return std::cos(x); }),
    unary_row("Tan", NumericSafety::deny, [](double x) { return std::tan(x); }),
    unary_row("Asin", NumericSafety::deny, [](double x) { return std::asin(x); }),
    unary_row("Acos", NumericSafety::deny, [](double x) { return std::acos(x); }),
    unary_row("Atan", NumericSafety::deny, [](double x) { return std::atan(x); }),
    unary_row("Sinh", NumericSafety::deny, [](double x) { return std::sinh(x); }),
    unary_row("Cosh", NumericSafety::deny, [](double x) { return std::cosh(x); }),
    unary_row("Asinh", NumericSafety::deny, [](double x) { return std::asinh(x); }),
    unary_row("Acosh", NumericSafety::deny, [](double x) { return std::acosh(x); }),
    unary_row("Atanh", NumericSafety::deny, [](double x) { return std::atanh(x); }),
};

}  // namespace

std::span<const OperatorRow> unary_operators() { return rows; }

}  // namespace viridian::graph
