#pragma once
// A reference kernel is a plain loop that computes an operator as ONNX defines it. It is written once and
// runs in three scalar types: float with sums in double, double for certifying rewrites, and a prime field in
// which polynomial operators are exact (docs/method.md, 4). It is slow on purpose: it is the fallback of
// every fast kernel, and what fast kernels are checked against.
#include <type_traits>
#include <vector>

#include "viridian/graph/graph.hpp"
#include "viridian/graph/reference/memory_budget.hpp"
#include "viridian/graph/reference/prime_field.hpp"

namespace viridian::graph {

// An Array is a tensor during evaluation. Floating element types use `real`, all others `integer`, which
// holds the bits of a u64.
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
    // Bytes that an element of `type` takes in an array, whatever it takes in a tensor.
    [[nodiscard]] static constexpr Bytes bytes_per_element(ElementType type) {
        return Bytes(static_cast<std::int64_t>(is_floating(type) ? sizeof(Scalar) : sizeof(std::int64_t)));
    }
    [[nodiscard]] Bytes bytes() const { return Bytes(count() * bytes_per_element(type).value); }
};

// Accumulator is the type in which kernels sum: double for float.
template <class Scalar>
using Accumulator = std::conditional_t<std::is_same_v<Scalar, float>, double, Scalar>;

// Calls f with the vector that holds the elements: `visit(array, [](auto& elements) { … })`.
template <class Scalar, class Function>
auto visit(const Array<Scalar>& array, Function f) {
    return array.floating() ? f(array.real) : f(array.integer);
}

// This is the largest number of elements that a reference kernel holds in one array. Shapes from a file may
// ask for more than the memory holds.
inline constexpr std::int64_t reference_limit = std::int64_t{1} << 31;

// Returns a zero array whose size depends on the inputs. Errors: limit_exceeded, malformed (a negative
// dimension).
template <class Scalar>
[[nodiscard]] Result<Array<Scalar>> make_array(ElementType type, Dims dims) {
    VIRIDIAN_TRY(const std::int64_t count, element_count(dims));
    if (count > reference_limit)
        return fail(ErrorCode::limit_exceeded, "check the model's shapes",
                    "a tensor of [{}] elements is too large for the reference kernels", fmt::join(dims, ","));
    return Array<Scalar>(type, std::move(dims));
}

// Rounding says whether values are rounded to their element type.
enum class Rounding {
    declared,  // every value is rounded to its element type when it is stored, as ONNX defines
    none,      // values keep the precision of the scalar, for certifying rewrites
};

// A Call is one evaluation of one node.
template <class Scalar>
struct Call {
    const Node& node;
    std::vector<const Array<Scalar>*> inputs;  // null if absent
    std::vector<Array<Scalar>> outputs;        // to fill; an output that nothing reads may stay undefined
    Rounding rounding = Rounding::declared;
    MemoryBudget* budget = nullptr;  // null: there is none
    std::int64_t foreseen = 0;       // outputs of so many elements were counted before: no need to ask

    // Returns a zero array for an output, whose size depends on the inputs. Errors: those of make_array and
    // of MemoryBudget::check, before anything is allocated.
    [[nodiscard]] Result<Array<Scalar>> make(ElementType type, Dims dims) const {
        VIRIDIAN_TRY(const std::int64_t count, element_count(dims));
        if (budget != nullptr && count > foreseen && count <= reference_limit)
            VIRIDIAN_TRY(budget->check(Bytes(count * Array<Scalar>::bytes_per_element(type).value)));
        return make_array<Scalar>(type, std::move(dims));
    }

    [[nodiscard]] const Array<Scalar>* input(std::size_t i) const {
        return i < inputs.size() ? inputs[i] : nullptr;
    }
    // Runs body number `body` of the node (If, Loop, Scan, functions, fused operators) with the call's
    // rounding.
    Result<std::vector<Array<Scalar>>> run_body(std::size_t body, std::vector<Array<Scalar>> arguments) const;
};

// A Reference is a reference kernel in its three scalar types.
struct Reference {
    Result<void> (*f32)(Call<float>&) = nullptr;
    Result<void> (*f64)(Call<double>&) = nullptr;
    Result<void> (*field)(Call<PrimeField>&) = nullptr;  // null unless polynomial
};

// These make a Reference from a generic lambda without captures, `[](auto& call) -> Result<void> { … }`.
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

// scalar_of is the scalar type of a call inside such a lambda.
template <class CallType>
struct ScalarOf;
template <class Scalar>
struct ScalarOf<Call<Scalar>> {
    using type = Scalar;
};
template <class CallType>
using scalar_of = typename ScalarOf<std::remove_cvref_t<CallType>>::type;

}  // namespace viridian::graph
