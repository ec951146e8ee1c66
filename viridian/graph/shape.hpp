#pragma once
// A Shape is a list of dimensions. Each dimension is a number, a symbol ("N"), or known only at run time.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/graph/element_type.hpp"

namespace viridian::graph {

class Dimension {
  public:
    Dimension() = default;  // a dimension that is known only at run time
    Dimension(std::int64_t value) : value_(value) {}
    explicit Dimension(std::string symbol) : symbol_(std::move(symbol)) {}

    [[nodiscard]] bool known() const { return value_ >= 0; }
    [[nodiscard]] std::int64_t value() const { return value_; }          // -1 unless known
    [[nodiscard]] const std::string& symbol() const { return symbol_; }  // "" unless symbolic
    // Two dimensions that are known only at run time compare equal: check known() first.
    bool operator==(const Dimension&) const = default;

  private:
    std::int64_t value_ = -1;
    std::string symbol_;
};

using Shape = std::vector<Dimension>;
using Dims = std::vector<std::int64_t>;  // a shape of numbers alone

// A TensorType is the element type of a tensor and what is known of its shape.
struct TensorType {
    ElementType element = ElementType::undefined;
    std::optional<Shape> shape;  // absent: even the rank is unknown

    [[nodiscard]] bool known() const;  // every dimension is a number
    [[nodiscard]] Dims dims() const;   // needs known()
    bool operator==(const TensorType&) const = default;
};

// Returns the shape whose dimensions are these numbers.
[[nodiscard]] Shape shape_of(const Dims& dims);
[[nodiscard]] std::string text(const TensorType& type);  // "f32[N,3,224,224]", "f32[?]", "f32[...]"

// Returns the product of the dimensions. Errors: limit_exceeded (dimensions other than 0 multiply to more
// than 2^40), malformed (a negative dimension).
[[nodiscard]] Result<std::int64_t> element_count(const Dims& dims);

// Returns the shape that numpy's broadcasting gives for two shapes. Errors: mismatch.
[[nodiscard]] Result<Dims> broadcast(const Dims& a, const Dims& b);

// Maps an axis in [-rank, rank) to [0, rank). Errors: mismatch (any other axis).
[[nodiscard]] Result<std::int64_t> normalize_axis(std::int64_t axis, std::int64_t rank);

}  // namespace viridian::graph
