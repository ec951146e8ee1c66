#pragma once
// These functions serve operators that only move elements. They compute the indices of strided views, take
// elements by index, and bring axes into a common form.
#include <optional>

#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// These return the number of elements of a tensor of dimensions `dims`, and the distance in elements
// between neighbours along each axis.
[[nodiscard]] std::int64_t product(const Dims& dims);
[[nodiscard]] Dims row_major_strides(const Dims& dims);
// Returns the flat source index of every element of a view that has `dims` and `strides` and starts at
// `offset`.
[[nodiscard]] std::vector<std::int64_t> strided_index(const Dims& dims, const Dims& strides,
                                                      std::int64_t offset = 0);

// AroundAxis sees a tensor as three axes [outer, size, inner], the middle one being `axis`.
struct AroundAxis {
    // Splits `dims` at `axis`, which is in range.
    AroundAxis(const Dims& dims, std::int64_t axis);
    // Returns the flat index of the element at [o, i, j].
    [[nodiscard]] std::size_t at(std::int64_t o, std::int64_t i, std::int64_t j) const {
        return static_cast<std::size_t>((o * size + i) * inner + j);
    }
    std::int64_t outer = 1, size = 1, inner = 1;
};

// Maps every axis to [0, rank) and sorts them. Errors: mismatch (an axis is out of range or occurs twice).
[[nodiscard]] Result<Dims> normalize_axes(Dims axes, std::int64_t rank);

// Returns the integers of input i if it is a constant.
[[nodiscard]] std::optional<Dims> constant_integers(const Inference& inference, std::size_t i);
// Returns the rank of input i if it is known.
[[nodiscard]] std::optional<std::int64_t> rank_of(const Inference& inference, std::size_t i);
// Returns the length of input i if it is a vector whose length is known and at most 64.
[[nodiscard]] std::optional<std::int64_t> length_of(const Inference& inference, std::size_t i);

// Sets y[i] = x[from[i]]. If from[i] is -1, y[i] is the first element of `fill`, or zero without one.
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

// Sets output 0 to input 0 with other dimensions.
template <class Scalar>
void view(Call<Scalar>& call, Dims dims) {
    call.outputs[0] = *call.input(0);
    call.outputs[0].dims = std::move(dims);
}

// Returns the integers of input i, such as axes, shapes or pads. Errors: mismatch (absent, or floating).
template <class Scalar>
[[nodiscard]] Result<Dims> integers(const Call<Scalar>& call, std::size_t i) {
    const Array<Scalar>* input = call.input(i);
    if (input == nullptr || input->floating())
        return fail(ErrorCode::mismatch, "check the model", "input {} of {} must hold integers", i,
                    call.node.op);
    return input->integer;
}

}  // namespace viridian::graph
