// Element-wise arithmetic of two inputs, or of any number, with numpy's broadcasting. Integers wrap modulo
// 2^64 (and to their type when stored); division truncates, and by zero gives zero.
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/broadcasting.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {
namespace {

constexpr auto divide = [](auto a, auto b) -> decltype(a) {
    if constexpr (integral<decltype(a)>) {
        if (b == 0) return 0;
        if (b == static_cast<decltype(a)>(-1)) return minus(decltype(a){0}, a);
    }
    return a / b;
};

template <class Function>
constexpr Reference binary(Function) {
    return polynomial_kernel(
        [](auto& call) -> Result<void> { return broadcast_elements(call, call.input(0)->type, Function{}); });
}

// Folds f over all inputs.
template <class Scalar, class Function>
Result<void> fold(Call<Scalar>& call, Function f) {
    Array<Scalar> sum = *call.input(0);
    for (std::size_t i = 1; i < call.inputs.size(); ++i) {
        Call<Scalar> pair{call.node,   {&sum, call.inputs[i]}, std::vector<Array<Scalar>>(1), call.rounding,
                          call.budget, call.foreseen};
        VIRIDIAN_TRY(broadcast_elements(pair, sum.type, f));
        sum = std::move(pair.outputs[0]);
    }
    call.outputs[0] = std::move(sum);
    return {};
}

constexpr auto mean = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(fold(call, plus));
    for (Scalar& value : call.outputs[0].real)
        value = value / Scalar(static_cast<std::int64_t>(call.inputs.size()));
    return {};
};

// fmod = 1: the sign of a, as C does; fmod = 0: the sign of b, as Python does.
constexpr auto modulo = [](auto& call) -> Result<void> {
    const bool c_like = call.node.integer("fmod", 0) != 0;
    return broadcast_elements(call, call.input(0)->type, [c_like](auto a, auto b) -> decltype(a) {
        if constexpr (integral<decltype(a)>) {
            if (b == 0 || b == static_cast<decltype(a)>(-1)) return 0;
            const auto rest = static_cast<decltype(a)>(a % b);
            return !c_like && rest != 0 && (rest < 0) != (b < 0) ? static_cast<decltype(a)>(rest + b) : rest;
        } else {
            const auto rest = std::fmod(a, b);
            return !c_like && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
        }
    });
};

std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
    std::uint64_t result = 1;
    for (auto factor = static_cast<std::uint64_t>(base); exponent != 0; exponent /= 2, factor *= factor)
        if (exponent % 2 != 0) result *= factor;
    return static_cast<std::int64_t>(result);
}

// In the field an exponent means repeated multiplication, so it must be a small whole number.
constexpr auto power = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& a = *call.input(0);
    const Array<Scalar>& b = *call.input(1);
    VIRIDIAN_TRY(const Dims dims, broadcast(a.dims, b.dims));
    VIRIDIAN_TRY(Array<Scalar> y, call.make(a.type, dims));
    const auto from_a = broadcast_index(a.dims, dims);
    const auto from_b = broadcast_index(b.dims, dims);
    for (std::size_t i = 0; i < from_a.size(); ++i) {
        const auto ia = static_cast<std::size_t>(from_a[i]);
        const auto ib = static_cast<std::size_t>(from_b[i]);
        if constexpr (std::is_same_v<Scalar, PrimeField>) {
            const std::uint64_t exponent =
                b.floating() ? b.real[ib].value() : static_cast<std::uint64_t>(b.integer[ib]);
            if (!a.floating() || exponent > 64)
                return fail(ErrorCode::unsupported, "certify the rule in double precision",
                            "Pow is polynomial only for small whole exponents");
            PrimeField product(1);
            for (std::uint64_t k = 0; k < exponent; ++k) product *= a.real[ia];
            y.real[i] = product;
        } else {
            const double exponent =
                b.floating() ? static_cast<double>(b.real[ib]) : static_cast<double>(b.integer[ib]);
            if (a.floating())
                y.real[i] = static_cast<Scalar>(std::pow(static_cast<double>(a.real[ia]), exponent));
            else if (!b.floating())
                y.integer[i] = integer_power(a.integer[ia], b.integer[ib]);
            else
                y.integer[i] = to_integer(std::pow(static_cast<double>(a.integer[ia]), exponent));
        }
    }
    call.outputs[0] = std::move(y);
    return {};
};

// Numbers of one kind, but for Pow's exponent, and no booleans: what their sum should be, ONNX does not say.
Result<void> infer_arithmetic(Inference& inference) {
    const ElementType first = inference.element(0);
    for (std::size_t i = 0; i < inference.input_count(); ++i) {
        if (!inference.has_input(i)) continue;
        const ElementType own = inference.element(i);
        if (own == ElementType::boolean)
            return fail(ErrorCode::mismatch, "add a Cast", "{} is given {}", inference.node().op,
                        text(inference.input(i)));
        const bool known = own != ElementType::undefined && first != ElementType::undefined;
        if (known && own != first && inference.node().op != op::Pow)
            return fail(ErrorCode::mismatch, "add a Cast", "operands of types {} and {}", name_of(first),
                        name_of(own));
    }
    return infer_broadcast(inference);
}

constexpr Arity two = {2, 2};
constexpr Arity any = {1, unbounded};
constexpr OperatorFacts rounding = {.precision = precision::rounds_once, .elements = Elements::pointwise};
constexpr OperatorFacts choosing = {.precision = precision::only_moves, .elements = Elements::pointwise};

}  // namespace

std::span<const OperatorRow> arithmetic_operators() {
    static constexpr OperatorRow rows[] = {
        elementwise_row("Add", two, infer_arithmetic, binary(plus), rounding),
        elementwise_row("Sub", two, infer_arithmetic, binary(minus), rounding),
        elementwise_row("Mul", two, infer_arithmetic, binary(times), rounding),
        elementwise_row("Div", two, infer_arithmetic, binary(divide), rounding),
        elementwise_row("Mod", two, infer_arithmetic, real_kernel(modulo), {.elements = Elements::pointwise}),
        elementwise_row("Pow", two, infer_arithmetic, polynomial_kernel(power),
                        {.precision = precision::amplifies, .elements = Elements::pointwise}),
        elementwise_row("PRelu", two, infer_arithmetic, real_kernel([](auto& call) -> Result<void> {
                            return broadcast_elements(call, call.input(0)->type,
                                                      [](auto x, auto slope) -> decltype(x) {
                                                          return x < 0 ? times(x, slope) : x;
                                                      });
                        }),
                        rounding),
        elementwise_row("Sum", any, infer_arithmetic,
                        polynomial_kernel([](auto& call) -> Result<void> { return fold(call, plus); }),
                        rounding),
        elementwise_row("Mean", any, infer_arithmetic, polynomial_kernel(mean), rounding),
        elementwise_row("Min", any, infer_arithmetic,
                        real_kernel([](auto& call) -> Result<void> { return fold(call, lesser); }), choosing),
        elementwise_row("Max", any, infer_arithmetic,
                        real_kernel([](auto& call) -> Result<void> { return fold(call, greater); }),
                        choosing),
    };
    return rows;
}

}  // namespace viridian::graph
