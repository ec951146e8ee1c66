#pragma once
// These are element-wise loops over contiguous elements of any numeric type but f16 and bf16 (which are
// widened to f32), compiled for every instruction set by Highway and vectorised by the compiler. Integers
// wrap, and an integer divided by zero is zero, as in the reference kernels (graph/operators).
#include "viridian/graph/element_type.hpp"

namespace viridian::execute::cpu::simd {

// An Operation is a function of two elements, a and b.
enum class Operation : std::uint8_t {
    add,
    sub,
    mul,
    div,
    mod,   // the sign of the right operand
    fmod,  // the sign of the left one
    pow,
    min,  // NaN wins
    max,
    prelu,  // a < 0 ? a·b : a
    bit_and,
    bit_or,
    bit_xor,
    shift_left,
    shift_right,
    equal,  // from here on the result is boolean
    less,
    less_equal,
    greater,
    greater_equal,
    logical_and,
    logical_or,
    logical_xor,
};
// Returns whether the result is boolean, whatever the type of the operands.
[[nodiscard]] constexpr bool is_predicate(Operation o) { return o >= Operation::equal; }

// A Change is a function of one element.
enum class Change : std::uint8_t {
    neg,
    abs,
    sign,
    bit_not,
    logical_not,  // from here on the result is boolean
    is_nan,
    is_infinite,
    is_positive_infinite,
    is_negative_infinite,
};
[[nodiscard]] constexpr bool is_predicate(Change c) { return c >= Change::logical_not; }

// Returns whether the operation, or the change, has a loop for elements of `type`.
[[nodiscard]] bool has_loop(Operation operation, graph::ElementType type);
[[nodiscard]] bool has_loop(Change change, graph::ElementType type);

// Sets to[i] to a[i] ∘ b[i] for i in [0, n); a and b hold elements of `type`.
void apply(Operation operation, graph::ElementType type, const std::byte* a, const std::byte* b,
           std::byte* to, std::int64_t n);
void apply(Change change, graph::ElementType type, const std::byte* x, std::byte* to, std::int64_t n);
// Sets to[i] to condition[i] ? a[i] : b[i] for elements of `size` bytes.
void select(std::int64_t size, const std::byte* condition, const std::byte* a, const std::byte* b,
            std::byte* to, std::int64_t n);
// Converts `n` elements between any two types, f16 and bf16 too, as the operator Cast does.
void cast(graph::ElementType from, const std::byte* x, graph::ElementType to, std::byte* y, std::int64_t n);

}  // namespace viridian::execute::cpu::simd
