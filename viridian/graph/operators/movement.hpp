#pragma once
// What operators share that only move elements: views by strides, elements taken by index, axes.
#include <optional>

#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

[[nodiscard]] std::int64_t product(const Dims& dims);
[[nodiscard]] Dims row_major_strides(const Dims& dims);
// Flat source index of every element of a view of `dims` with `strides`, starting at `offset`.
[[nodiscard]] std::vector<std::int64_t> strided_index(const Dims& dims, const Dims& strides,
                                                      std::int64_t offset = 0);

// A tensor around one axis: index = (outer · size + i) · inner + j.
struct AroundAxis {
    AroundAxis(const Dims& dims, std::int64_t axis);
    [[nodiscard]] std::size_t at(std::int64_t o, std::int64_t i, std::int64_t j) const {
        return static_cast<std::size_t>((o * size + i) * inner + j);
    }
    std::int64_t outer = 1, size = 1, inner = 1;
};

// Each axis in [0, rank), ascending. Errors: mismatch for one outside or given twice.
[[nodiscard]] Result<Dims> normalize_axes(Dims axes, std::int64_t rank);

// The integers of input i where it is a constant.
[[nodiscard]] std::optional<Dims> constant_integers(const Inference& inference, std::size_t i);
// Rank of input i, if known.
[[nodiscard]] std::optional<std::int64_t> rank_of(const Inference& inference, std::size_t i);
// How many elements input i, a vector, has, if known: the rank of what it describes.
[[nodiscard]] std::optional<std::int64_t> length_of(const Inference& inference, std::size_t i);

// The row of an operator that moves elements and computes nothing.
constexpr OperatorRow movement_row(std::string_view name, Arity inputs, Result<void> (*infer)(Inference&),
                                   Reference reference) {
    return {.name = name,
            .domain = "",
            .inputs = inputs,
            .outputs = {1, 1},
            .operator_class = OperatorClass::movement,
            .safety = NumericSafety::clear,
            .infer = infer,
            .reference = reference};
}

// y[i] = x[from[i]], or `fill`'s first element (zero without one) where from[i] is −1.
template <class Scalar>
void take(const Array<Scalar>& x, std::span<const std::int64_t> from, Array<Scalar>& y,
          const Array<Scalar>* fill = nullptr) {
    const auto copy = [&](const auto& source, auto& target, auto otherwise) {
        for (std::size_t i = 0; i < target.size(); ++i)
            target[i] = from[i] < 0 ? otherwise : source[static_cast<std::size_t>(from[i])];
    };
    if (x.floating())
        copy(x.real, y.real, fill == nullptr ? Scalar(0) : fill->real[0]);
    else
        copy(x.integer, y.integer, fill == nullptr ? std::int64_t{0} : fill->integer[0]);
}

// The same elements under other dims.
template <class Scalar>
void view(Call<Scalar>& call, Dims dims) {
    call.outputs[0] = *call.input(0);
    call.outputs[0].dims = std::move(dims);
}

// Integers that an input holds: axes, shapes, pads. Errors: mismatch for a floating tensor.
template <class Scalar>
[[nodiscard]] Result<Dims> integers(const Call<Scalar>& call, std::size_t i) {
    const Array<Scalar>* input = call.input(i);
    if (input == nullptr || input->floating())
        return fail(ErrorCode::mismatch, "check the model", "input {} of {} must hold integers", i,
                    call.node.op);
    return input->integer;
}

}  // namespace viridian::graph
