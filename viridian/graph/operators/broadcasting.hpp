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

// outputs[0] of type `result` = f(a, b) element by element. f must accept two scalars and two integers.
template <class Scalar, class Function>
Result<void> broadcast_elements(Call<Scalar>& call, ElementType result, Function f) {
    const Array<Scalar>& a = *call.input(0);
    const Array<Scalar>& b = *call.input(1);
    VIRIDIAN_TRY(const Dims dims, broadcast(a.dims, b.dims));
    const std::vector<std::int64_t> from_a = broadcast_index(a.dims, dims);
    const std::vector<std::int64_t> from_b = broadcast_index(b.dims, dims);
    Array<Scalar>& y = call.outputs[0] = Array<Scalar>(result, dims);
    for (std::size_t i = 0; i < from_a.size(); ++i) {
        const auto ia = static_cast<std::size_t>(from_a[i]);
        const auto ib = static_cast<std::size_t>(from_b[i]);
        const auto store = [&](auto value) {
            if (y.floating())
                y.real[i] = static_cast<Scalar>(value);
            else
                y.integer[i] = static_cast<std::int64_t>(value);
        };
        if constexpr (std::is_same_v<Scalar, PrimeField>) {
            if (a.floating())
                y.real[i] = f(a.real[ia], b.real[ib]);
            else
                y.integer[i] = static_cast<std::int64_t>(f(a.integer[ia], b.integer[ib]));
        } else if (a.floating()) {
            store(f(a.real[ia], b.real[ib]));
        } else {
            store(f(a.integer[ia], b.integer[ib]));
        }
    }
    return {};
}

}  // namespace viridian::graph
