#pragma once
// Declares what the shape rules of operators share. A shape rule infers the types of an operator's outputs
// from those of its inputs (row.hpp). Here are their errors, checks that accept unknown dimensions, and
// counts of elements and loops.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// These make the errors of a shape rule: mismatch for a wrong shape or element type, malformed for a
// wrong attribute.
// `message` and `arguments` are those of fmt::format.
template <class... Arguments>
[[nodiscard]] Error wrong_shape(fmt::format_string<Arguments...> message, Arguments&&... arguments) {
    return fail(ErrorCode::mismatch, "check the model's shapes", message,
                std::forward<Arguments>(arguments)...);
}
template <class... Arguments>
[[nodiscard]] Error wrong_attribute(fmt::format_string<Arguments...> message, Arguments&&... arguments) {
    return fail(ErrorCode::malformed, "export the model again", message,
                std::forward<Arguments>(arguments)...);
}

// Gives output 0 the type of input 0.
[[nodiscard]] Result<void> keep_type(Inference& inference);

// Checks that the inputs from `first` to `last` that are present hold floating numbers. Errors: mismatch.
[[nodiscard]] Result<void> expect_floating(const Inference& inference, std::size_t first = 0,
                                           std::size_t last = 1000);
// Checks that the inputs from `first` to `last` that are present hold integers or booleans. Errors: mismatch.
[[nodiscard]] Result<void> expect_integer(const Inference& inference, std::size_t first, std::size_t last);
// Checks that all inputs have one element type that has products: a floating one, or an integer of 32 or 64
// bits. Errors: mismatch.
[[nodiscard]] Result<void> expect_products(const Inference& inference);
// Checks that the rank of input i, if known, lies in [least, most]. Errors: mismatch.
[[nodiscard]] Result<void> expect_rank(const Inference& inference, std::size_t i, std::size_t least,
                                       std::size_t most = 64);
// Checks that input i may have the shape `wanted`; unknown dimensions match any. Errors: mismatch.
[[nodiscard]] Result<void> expect_shape(const Inference& inference, std::size_t i, const Shape& wanted);

// Returns whether both dimensions are known and differ.
[[nodiscard]] inline bool differ(const Dimension& a, const Dimension& b) {
    return a.known() && b.known() && a.value() != b.value();
}
// Returns that one of two equal dimensions of which more is known.
[[nodiscard]] inline const Dimension& better(const Dimension& a, const Dimension& b) {
    return a.known() || (!a.symbol().empty() && !b.known()) ? a : b;
}

// Returns the shape of numpy's matmul of inputs `a` and `b`. Errors: mismatch.
[[nodiscard]] Result<std::optional<Shape>> matmul_shape(const Inference& inference, std::size_t a,
                                                        std::size_t b);

// Returns a·b for numbers of at least 0, or the greatest number if the product has more than 64 bits, which
// is the size of no tensor.
[[nodiscard]] std::int64_t capped_product(std::int64_t a, std::int64_t b);
// Returns the product of `dims`.
[[nodiscard]] std::int64_t product(std::span<const std::int64_t> dims);
// Returns the loops of an operation: one over each dimension of output 0, and one for each of `sizes` that
// the result sums over.
[[nodiscard]] IterationSpace summed_over(const Operation& operation, std::span<const std::int64_t> sizes);
[[nodiscard]] inline IterationSpace summed_over(const Operation& operation, std::int64_t size) {
    return summed_over(operation, std::span(&size, 1));
}
// Returns the number of elements of a type whose dimensions are known.
[[nodiscard]] std::int64_t count_of(const TensorType& type);

}  // namespace viridian::graph
