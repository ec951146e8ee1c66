#pragma once
// One operator, one row: everything the rest of the system knows about it. Rows live in family files beside
// this one
// (`convolution.cpp`, `pooling.cpp`, …) and are listed in `table.cpp`. Adding an operator touches its family
// file only. One meaning per operator: that of the newest ONNX opset (the standard's operator documents).
#include <optional>
#include <span>
#include <string_view>

#include "viridian/base/units.hpp"
#include "viridian/graph/operators/reference.hpp"

namespace viridian::graph {

// SUBSTATION's classes, with movement apart from element-wise (docs/method.md, 6).
enum class OperatorClass : std::uint8_t { contraction, normalization, elementwise, movement, control };

// Whether an operator may run in a low precision (TensorFlow AMP's four lists; docs/method.md, 7).
enum class NumericSafety : std::uint8_t { allow, infer, deny, clear };

struct Arity {
    int least = 1;
    int most = 1;  // `unbounded` for variadic
};
inline constexpr int unbounded = 1 << 20;

// Types of an operation whose every type is known: what counting needs.
struct Operation {
    const Node& node;
    std::span<const TensorType> inputs;  // element undefined where an input is left out
    std::span<const TensorType> outputs;
};

struct Axis {
    std::int64_t size = 1;
    bool reduced = false;
};
// The loops an operation runs over; two operations may fuse when theirs agree up to reduced axes
// (docs/method.md, 6).
using IterationSpace = std::vector<Axis>;

// What a shape rule sees. Shapes may be partial; the rule fills in what follows from what is known, and
// complains (mismatch) only about what is certainly wrong.
class Inference {
  public:
    Inference(const Node& node, std::vector<TensorType> inputs, std::vector<const Tensor*> constants);

    [[nodiscard]] const Node& node() const { return node_; }
    [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
    [[nodiscard]] bool has_input(std::size_t i) const;  // given, and not left out
    [[nodiscard]] const TensorType& input(std::size_t i) const { return inputs_[i]; }
    [[nodiscard]] ElementType element(std::size_t i) const { return inputs_[i].element; }
    [[nodiscard]] const std::optional<Shape>& shape(std::size_t i) const { return inputs_[i].shape; }
    // The value of input i where it is a constant, else null.
    [[nodiscard]] const Tensor* constant(std::size_t i) const {
        return i < constants_.size() ? constants_[i] : nullptr;
    }

    void set(std::size_t output, ElementType element, std::optional<Shape> shape);
    [[nodiscard]] const std::vector<TensorType>& outputs() const { return outputs_; }

  private:
    const Node& node_;
    std::vector<TensorType> inputs_;
    std::vector<const Tensor*> constants_;
    std::vector<TensorType> outputs_;
};

struct OperatorRow {
    std::string_view name;
    std::string_view domain;  // "" is ai.onnx
    Arity inputs;
    Arity outputs;
    OperatorClass operator_class = OperatorClass::elementwise;
    NumericSafety safety = NumericSafety::deny;
    Result<void> (*infer)(Inference&) = nullptr;
    Reference reference;                       // how to compute it, slowly and plainly
    Flop (*flop)(const Operation&) = nullptr;  // null: one per output element if element-wise, else 0
    IterationSpace (*iteration_space)(const Operation&) = nullptr;  // null: the first output's dimensions
    Bytes (*bytes_read)(const Operation&) = nullptr;                // null: every input once
};

[[nodiscard]] const OperatorRow* find_operator(std::string_view domain, std::string_view name);
[[nodiscard]] inline const OperatorRow* find_operator(const Node& node) {
    return find_operator(node.domain, node.op);
}
// All rows, family by family.
[[nodiscard]] std::vector<const OperatorRow*> all_operators();

// Counting, with the rows' defaults applied. The types of `operation` are known.
[[nodiscard]] Flop flop(const Operation& operation);
[[nodiscard]] Bytes bytes_read(const Operation& operation);
[[nodiscard]] Bytes bytes_written(const Operation& operation);
[[nodiscard]] IterationSpace iteration_space(const Operation& operation);

}  // namespace viridian::graph
