#pragma once
// These functions apply numpy's broadcasting: as a shape rule, and as a loop over elements. All operators
// with several broadcast inputs share them.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// Returns the broadcast of shapes that may be partial; a dimension is known if the inputs determine it.
// Errors: mismatch.
[[nodiscard]] Result<std::optional<Shape>> broadcast_shapes(const std::vector<std::optional<Shape>>& shapes);

// Gives output 0 the element type of input 0 and the broadcast of the shapes of all inputs.
[[nodiscard]] Result<void> infer_broadcast(Inference& inference);

// Returns, for each element of a tensor of dimensions `to`, the flat index of the element that broadcasts to
// it in a tensor of dimensions `from`.
[[nodiscard]] std::vector<std::int64_t> broadcast_index(const Dims& from, const Dims& to);

// Sets outputs[0], of element type `result`, to f(a, b) element by element, where a and b are the first two
// inputs. `f` accepts two scalars and two integers; u64 elements are std::uint64_t, all other integers are
// std::int64_t. Errors: mismatch (shapes that do not broadcast, or only one operand is floating), and those
// of Call::make.
template <class Scalar, class Function>
Result<void> broadcast_elements(Call<Scalar>& call, ElementType result, Function f) {
    const Array<Scalar>& a = *call.input(0);
    const Array<Scalar>& b = *call.input(1);
    if (a.floating() != b.floating())
        return fail(ErrorCode::mismatch, "add a Cast", "operands of types {} and {}", name_of(a.type),
                    name_of(b.type));
    VIRIDIAN_TRY(const Dims dims, broadcast(a.dims, b.dims));
    VIRIDIAN_TRY(Array<Scalar> y, call.make(result, dims));
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
