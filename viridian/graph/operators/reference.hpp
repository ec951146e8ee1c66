#pragma once
// Reference kernels: plain loops over one scalar type, written once and run in three: float (what the model
// means, sums in double), double (certifying rewrites), and a small prime field (exact, for polynomial
// operators; docs/method.md, 4). Slow on purpose; they are the fallback and the oracle of every fast kernel.
#include <type_traits>
#include <vector>

#include "viridian/graph/graph.hpp"
#include "viridian/graph/prime_field.hpp"

namespace viridian::graph {

// A tensor while it is evaluated: floating element types hold `real`, all others `integer` (u64 as its bits).
template <class Scalar>
struct Array {
    ElementType type = ElementType::undefined;
    Dims dims;
    std::vector<Scalar> real;
    std::vector<std::int64_t> integer;

    Array() = default;
    Array(ElementType element, Dims shape) : type(element), dims(std::move(shape)) {
        std::size_t count = 1;
        for (const std::int64_t dimension : dims) count *= static_cast<std::size_t>(dimension);
        if (is_floating(type))
            real.resize(count);
        else
            integer.resize(count);
    }
    [[nodiscard]] bool floating() const { return is_floating(type); }
    [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(dims.size()); }
    [[nodiscard]] std::int64_t count() const {
        return static_cast<std::int64_t>(floating() ? real.size() : integer.size());
    }
};

// Sums of float are taken in double.
template <class Scalar>
using Accumulator = std::conditional_t<std::is_same_v<Scalar, float>, double, Scalar>;

// Runs f with the vector that holds the elements: `visit(array, [](auto& elements) { … })`.
template <class Scalar, class Function>
auto visit(const Array<Scalar>& array, Function f) {
    return array.floating() ? f(array.real) : f(array.integer);
}

// Elements that a reference kernel will hold in one array; shapes from a file may ask for more than memory.
inline constexpr std::int64_t reference_limit = std::int64_t{1} << 31;

// An array whose size the input decides. Errors: limit_exceeded, malformed (a negative dimension).
template <class Scalar>
[[nodiscard]] Result<Array<Scalar>> make_array(ElementType type, Dims dims) {
    VIRIDIAN_TRY(const std::int64_t count, element_count(dims));
    if (count > reference_limit)
        return fail(ErrorCode::limit_exceeded, "check the model's shapes",
                    "a tensor of [{}] elements is too large for the reference kernels", fmt::join(dims, ","));
    return Array<Scalar>(type, std::move(dims));
}

enum class Rounding {
    declared,  // every value is rounded to its element type when it is stored: what the model means
    none,      // values keep the scalar's precision: for certifying rewrites
};

// One evaluation of one node.
template <class Scalar>
struct Call {
    const Node& node;
    std::vector<const Array<Scalar>*> inputs;  // null where left out
    std::vector<Array<Scalar>> outputs;        // to fill; type undefined where nobody reads it is fine
    Rounding rounding = Rounding::declared;

    [[nodiscard]] const Array<Scalar>* input(std::size_t i) const {
        return i < inputs.size() ? inputs[i] : nullptr;
    }
    // Runs a body of the node (If, Loop, Scan, functions, fused operators), rounding as the call does.
    Result<std::vector<Array<Scalar>>> run_body(std::size_t body, std::vector<Array<Scalar>> arguments) const;
};

struct Reference {
    Result<void> (*f32)(Call<float>&) = nullptr;
    Result<void> (*f64)(Call<double>&) = nullptr;
    Result<void> (*field)(Call<PrimeField>&) = nullptr;  // null unless polynomial
};

// From one generic captureless lambda `[](auto& call) -> Result<void> { … }`.
template <class Kernel>
constexpr Reference real_kernel(Kernel) {
    return {[](Call<float>& call) { return Kernel{}(call); },
            [](Call<double>& call) { return Kernel{}(call); }, nullptr};
}
template <class Kernel>
constexpr Reference polynomial_kernel(Kernel) {
    return {[](Call<float>& call) { return Kernel{}(call); },
            [](Call<double>& call) { return Kernel{}(call); },
            [](Call<PrimeField>& call) { return Kernel{}(call); }};
}

// The scalar type of a call inside such a lambda.
template <class CallType>
struct ScalarOf;
template <class Scalar>
struct ScalarOf<Call<Scalar>> {
    using type = Scalar;
};
template <class CallType>
using scalar_of = typename ScalarOf<std::remove_cvref_t<CallType>>::type;

}  // namespace viridian::graph
