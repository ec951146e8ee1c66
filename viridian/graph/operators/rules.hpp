#pragma once
// What shape rules share: complaints, and checks that let unknown dimensions pass.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

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

// Output 0 has input 0's type.
[[nodiscard]] Result<void> keep_type(Inference& inference);

// Inputs first … last, where given, hold floating numbers. Errors: mismatch.
[[nodiscard]] Result<void> expect_floating(const Inference& inference, std::size_t first = 0,
                                           std::size_t last = 1000);
// Inputs first … last, where given, hold integers or truth values. Errors: mismatch.
[[nodiscard]] Result<void> expect_integer(const Inference& inference, std::size_t first, std::size_t last);
// All inputs hold one type that products are defined on: floating numbers, or integers of 32 or 64 bits.
// Errors: mismatch.
[[nodiscard]] Result<void> expect_products(const Inference& inference);
// The rank of input i, where known, lies in [least, most]. Errors: mismatch.
[[nodiscard]] Result<void> expect_rank(const Inference& inference, std::size_t i, std::size_t least,
                                       std::size_t most = 64);
// Input i may have exactly these dimensions; unknown ones on either side match anything. Errors: mismatch.
[[nodiscard]] Result<void> expect_shape(const Inference& inference, std::size_t i, const Shape& wanted);

// Both numbers are known and differ.
[[nodiscard]] inline bool differ(const Dimension& a, const Dimension& b) {
    return a.known() && b.known() && a.value() != b.value();
}
// The dimension that is known of two that must agree.
[[nodiscard]] inline const Dimension& better(const Dimension& a, const Dimension& b) {
    return a.known() || (!a.symbol().empty() && !b.known()) ? a : b;
}

// The shape of numpy's matmul of inputs a and b. Errors: mismatch.
[[nodiscard]] Result<std::optional<Shape>> matmul_shape(const Inference& inference, std::size_t a,
                                                        std::size_t b);

[[nodiscard]] std::int64_t product(std::span<const std::int64_t> dims);
// Every element of output 0, summed over loops of these sizes.
[[nodiscard]] IterationSpace summed_over(const Operation& operation, std::span<const std::int64_t> sizes);
[[nodiscard]] inline IterationSpace summed_over(const Operation& operation, std::int64_t size) {
    return summed_over(operation, std::span(&size, 1));
}
// Elements of a type whose dimensions are known.
[[nodiscard]] std::int64_t count_of(const TensorType& type);

}  // namespace viridian::graph
