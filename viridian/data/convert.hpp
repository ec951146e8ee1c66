#pragma once
// Converts the elements of samples to the type of a model's input, with normalisation.
#include "viridian/graph/tensor.hpp"

namespace viridian::data {

// A Normalise maps an element x of channel c to x × factor[c] + offset[c]. Both have one value for each
// channel. The default changes nothing.
struct Normalise {
    std::vector<double> factor = {1.0};
    std::vector<double> offset = {0.0};
    [[nodiscard]] bool changes_nothing() const;
};

// Returns whether elements of type `from` may become `to`. Every number may become a floating one. Integers
// and booleans may become integers of another type, which must hold the value. Floating numbers do not become
// integers, and integers do not become booleans.
[[nodiscard]] bool convertible(graph::ElementType from, graph::ElementType to);

// Returns the samples [n, channels, ...] in the type `to`, which must be convertible; only floating numbers
// are normalised. The number of channels is the size of `factor`, which divides the elements of a sample.
// Errors: malformed (a value that the type `to` cannot hold; `name` stands for the column).
[[nodiscard]] Result<graph::Tensor> convert(const graph::Tensor& samples, graph::ElementType to,
                                            const Normalise& normalise, std::string_view name);

}  // namespace viridian::data
