// Mathematical functions of one input.
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/elementwise/elementwise.hpp"
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
constexpr OperatorRow polynomial_row(std::string_view name, const Precision& precision, Function function) {
    OperatorRow row = unary_row(name, precision, function);
    row.reference =
        polynomial_kernel([](auto& call) -> Result<void> { return each_element(call, Function{}); });
    return row;
}

constexpr OperatorRow identity() {
    OperatorRow row = polynomial_row("Identity", precision::only_moves, same);
    row.operator_class = OperatorClass::movement;
    return row;
}

constexpr OperatorFacts math_bf16_since_22 = {.sets = {.bf16 = 22}};

}  // namespace

std::span<const OperatorRow> unary_operators() {
    static constexpr OperatorRow rows[] = {
        identity(),
        polynomial_row("Neg", precision::only_moves, negate),
        unary_row("Abs", precision::only_moves, absolute),
        unary_row("Sign", precision::only_moves, sign),
        polynomial_row("Reciprocal", precision::rounds_once,
                       [](auto x) {
                           if constexpr (std::is_integral_v<decltype(x)>)
                               return x == 0 ? 0 : 1 / x;
                           else
                               return decltype(x)(1) / x;
                       }),
        unary_row("Sqrt", precision::rounds_once, [](double x) { return std::sqrt(x); }),
        unary_row("Exp", precision::amplifies, [](double x) { return std::exp(x); }),
        unary_row("Log", precision::rounds_once, [](double x) { return std::log(x); }),
        unary_row("Erf", precision::rounds_once, [](double x) { return std::erf(x); }),
        unary_row("Ceil", precision::jumps, [](double x) { return std::ceil(x); }),
        unary_row("Floor", precision::jumps, [](double x) { return std::floor(x); }),
        unary_row(
            "Round", precision::jumps, [](double x) { return std::nearbyint(x); },  // half to even
            math_bf16_since_22),
        unary_row(
            "Sin", precision::unlisted, [](double x) { return std::sin(x); }, math_bf16_since_22),
        unary_row(
            "Cos", precision::unlisted, [](double x) { return std::cos(x); }, math_bf16_since_22),
        unary_row(
            "Tan", precision::unlisted, [](double x) { return std::tan(x); }, math_bf16_since_22),
        unary_row(
            "Asin", precision::unlisted, [](double x) { return std::asin(x); }, math_bf16_since_22),
        unary_row(
            "Acos", precision::unlisted, [](double x) { return std::acos(x); }, math_bf16_since_22),
        unary_row(
            "Atan", precision::unlisted, [](double x) { return std::atan(x); }, math_bf16_since_22),
        unary_row(
            "Sinh", precision::unlisted, [](double x) { return std::sinh(x); }, math_bf16_since_22),
        unary_row(
            "Cosh", precision::unlisted, [](double x) { return std::cosh(x); }, math_bf16_since_22),
        unary_row(
            "Asinh", precision::unlisted, [](double x) { return std::asinh(x); }, math_bf16_since_22),
        unary_row(
            "Acosh", precision::unlisted, [](double x) { return std::acosh(x); }, math_bf16_since_22),
        unary_row(
            "Atanh", precision::unlisted, [](double x) { return std::atanh(x); }, math_bf16_since_22),
    };
    return rows;
}

}  // namespace viridian::graph
