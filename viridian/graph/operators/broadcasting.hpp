#pragma once
// numpy's broadcasting, as a shape rule and as a loop: shared by every family of two or more inputs.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// Broadcast of partial shapes: a dimension is known where the inputs decide it. Errors: mismatch.
[[nodiscard]] Result<std::optional<Shape>> broadcast_shapes(const std::vector<std::optional<Shape>>& shapes);

// Output 0 has input 0's element type and the broadcast of all inputs' shapes.
[[nodiscard]] Result<void> infer_broadcast(Inference& inference);

// For each element of `to`, the flat index of the element of `from` that broadcasts to it.
[[nodiscard]] std::vector<std::int64_t> broadcast_index(const Dims& from, const Dims& to);

// outputs[0] of type `result` = f(a, b) element by element. f must accept two scalars and two integers; u64
// elements come as std::uint64_t, all other integers as std::int64_t.
template <class Scalar, class Function>
Result<void> broadcast_elements(Call<Scalar>& call, ElementType result, Function f) {
    const Array<Scalar>& a = *call.input(0);
    const Array<Scalar>& b = *call.input(1);
    if (a.floating() != b.floating())
        return fail(ErrorCode::mismatch, "add a Cast", "operands of types {} and {}", name_of(a.type),
                    name_of(b.type));
    VIRIDIAN_TRY(const Dims dims, broadcast(a.dims, b.dims));
    VIRIDIAN_TRY(Array<Scalar> y, make_array<Scalar>(result, dims));
    const std::vector<std::int64_t> from_a = broadcast_index(a.dims, dims);
    const std::vector<std::int64_t> from_b = broadcast_index(b.dims, dims);
    const auto each = [&](auto operation) {
        for (std::size_t i = 0; i < from_a.size(); ++i) {
            const auto value =
                operation(static_cast<std::size_t>(from_a[i]), static_cast<std::size_t>(from_b[i]));
            if (!y.floating()) {
                if constexpr (std::is_arithmetic_v<std::remove_const_t<decltype(value)>>)
                    y.integer[i] = static_cast<std::int64_t>(value);
            } else {
                if constexpr (std::is_convertible_v<decltype(value), Scalar>)
                    y.real[i] = static_cast<Scalar>(value);
            }
        }
    };
    if (a.floating())
        each([&](std::size_t i, std::size_t j) { return f(a.real[i], b.real[j]); });
    else if (a.type == ElementType::u64)
        each([&](std::size_t i, std::size_t j) {
            return f(static_cast<std::uint64_t>(a.integer[i]), static_cast<std::uint64_t>(b.integer[j]));
        });
    else
        each([&](std::size_t i, std::size_t j) { return f(a.integer[i], b.integer[j]); });
    call.outputs[0] = std::move(y);
    return {};
}

}  // namespace viridian::graph
