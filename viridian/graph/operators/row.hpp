#pragma once
// An OperatorRow holds everything that the rest of the system knows about one operator. The rows of a family
// stand in one file (`contraction/convolution.cpp`, `pooling/pooling.cpp`, …), and `families.hpp` lists the
// families. To add an operator, add its row to a family file; docs/graph.md shows an example. A row describes
// the operator as the newest ONNX operator set defines it.
#include <optional>
#include <span>
#include <string_view>

#include "viridian/base/units.hpp"
#include "viridian/graph/reference/reference.hpp"

namespace viridian::graph {

// An OperatorClass is the class of an operator in the sense of SUBSTATION (section III), except that
// movement is a class of its own here instead of a kind of element-wise operator (docs/method.md, 6).
enum class OperatorClass : std::uint8_t { contraction, normalization, elementwise, movement, control };

// NumericSafety says whether an operator may run in bf16 inside a network that was f32. The four classes
// are the lists of TensorFlow's automatic mixed precision (docs/method.md, 7).
enum class NumericSafety : std::uint8_t {
    allow,  // a contraction with f32 sums: safe, and where the time goes
    infer,  // rounds once per element: safe unless a denied operator amplified its inputs
    clear,  // adds no rounding of its own: it moves, selects or compares
    deny,   // amplifies relative errors, jumps or counts: f32 only
};

// A Precision is the safety of an operator together with the reason for it, which reports print. An
// operator that no published list contains stays in f32, as TensorFlow does.
struct Precision {
    NumericSafety safety = NumericSafety::deny;
    std::string_view reason = "in none of the published lists";
};

// Elements says how the elements of the outputs follow from the elements of the inputs.
enum class Elements : std::uint8_t {
    computed,  // none of the relations below is promised
    // Each output element is one function of one element of each input; inputs broadcast as numpy does.
    pointwise,
    // The output holds every element of the first input once, unchanged, in the same row-major order.
    reshaped,
    // The output holds every element of the first input once, unchanged, in an order that follows from the
    // attributes and the shape alone.
    permuted,
    moved,  // each output element is an element of an input or a fill value, unchanged
};

// Samples says when an operator computes each sample by itself. A sample is a slice along axis 0 of the
// first input and of every output. The other inputs are parameters, equal for all samples. Pointwise
// operators always compute samples by themselves, so that their rows need not say it.
enum class Samples : std::uint8_t {
    mixed,         // not promised, or promised for some nodes that rewrite/batch_flow.cpp recognises
    apart,         // always, unless the node is in training mode or has several outputs
    behind_axis,   // when the attribute `axis` (-1 if absent) does not name axis 0
    behind_axes,   // when input 1 lists axes, and axis 0 of the first input is not among them
    behind_added,  // when input 1 lists axes, and axis 0 of the output is not among them
};

// OperatorSets say which ONNX operator sets can write an operator in its newest meaning.
inline constexpr int oldest_operator_set = 17;      // the oldest one that Viridian writes
inline constexpr int no_operator_set = 0x7fffffff;  // no operator set can
struct OperatorSets {
    int any = oldest_operator_set;   // the operator exists from this set on
    int bf16 = oldest_operator_set;  // the operator takes bfloat16 inputs from this set on
};

// An Arity is the number of inputs or outputs that an operator takes.
struct Arity {
    int least = 1;
    int most = 1;  // `unbounded` for variadic
};
inline constexpr int unbounded = 1 << 20;

// An Operation is a node with the types of its inputs and outputs, all of them known. The counting
// functions read it.
struct Operation {
    const Node& node;
    std::span<const TensorType> inputs;  // the element type of an absent input is undefined
    std::span<const TensorType> outputs;
    // The inputs that are constants, null for the others; empty if nobody looked. Where an operator says by
    // an input along which axes it works, its loops follow from them.
    std::span<const Tensor* const> constants = {};
};

// An Axis is one loop: its extent, and whether the result sums over it.
struct Axis {
    std::int64_t size = 1;
    bool reduced = false;
};
// An IterationSpace lists the loops that an operation runs over. Two operations may fuse when their loops
// agree up to reduced axes (docs/method.md, 6).
using IterationSpace = std::vector<Axis>;

// An Inference is what a shape rule reads and writes. Shapes may be partial. The rule sets the output types
// that follow from what is known, and returns the error `mismatch` only if the types are certainly wrong.
class Inference {
  public:
    Inference(const Node& node, std::vector<TensorType> inputs, std::vector<const Tensor*> constants);

    [[nodiscard]] const Node& node() const { return node_; }
    [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
    [[nodiscard]] bool has_input(std::size_t i) const;  // the node gives input i
    [[nodiscard]] const TensorType& input(std::size_t i) const { return inputs_[i]; }
    [[nodiscard]] ElementType element(std::size_t i) const { return inputs_[i].element; }
    [[nodiscard]] const std::optional<Shape>& shape(std::size_t i) const { return inputs_[i].shape; }
    // Returns the value of input i if it is a constant, else null.
    [[nodiscard]] const Tensor* constant(std::size_t i) const {
        return i < constants_.size() ? constants_[i] : nullptr;
    }

    // Sets the type of an output.
    void set(std::size_t output, ElementType element, std::optional<Shape> shape);
    [[nodiscard]] const std::vector<TensorType>& outputs() const { return outputs_; }

  private:
    const Node& node_;
    std::vector<TensorType> inputs_;
    std::vector<const Tensor*> constants_;
    std::vector<TensorType> outputs_;
};

// OperatorFacts are the facts of a row that have a default: a family file names only those that differ.
struct OperatorFacts {
    std::string_view domain = {};  // "" is ai.onnx
    Arity outputs = {1, 1};
    Precision precision = {};
    Elements elements = Elements::computed;
    Samples samples = Samples::mixed;
    // The operator has one input and never decreases, provided its attribute `alpha` is absent or >= 0.
    bool non_decreasing = false;
    bool random = false;  // the operator may draw random numbers
    OperatorSets sets = {};
    // The default is one flop per output element for element-wise operators, and 0 for others.
    Flop (*flop)(const Operation&) = nullptr;
    // The default is the dimensions of the first output.
    IterationSpace (*iteration_space)(const Operation&) = nullptr;
    // The default is to read every input once.
    Bytes (*bytes_read)(const Operation&) = nullptr;
    // An attribute that only tells nodes apart, such as the stream of random numbers. It changes no price, so
    // that regions which differ in it alone share their prices.
    std::string_view numbering = {};
    // Private operators: builds what `node` means, a graph of standard operators over inputs of the given
    // types. The node itself has no body; `onnx` writes this one, and reads the operator only from it.
    std::shared_ptr<const Graph> (*meaning)(const Node& node, std::span<const TensorType> inputs) = nullptr;
};

// `build_row.hpp` has the functions that make rows.
struct OperatorRow : OperatorFacts {
    OperatorRow() = default;
    constexpr explicit OperatorRow(const OperatorFacts& facts) : OperatorFacts(facts) {}

    std::string_view name;
    OperatorClass operator_class = OperatorClass::elementwise;
    Arity inputs;
    Result<void> (*infer)(Inference&) = nullptr;  // the shape rule
    Reference reference;                          // the reference kernel: slow and plain
};

// Returns the row of the operator, or null if there is none. "ai.onnx" and "" are the same domain.
[[nodiscard]] const OperatorRow* find_operator(std::string_view domain, std::string_view name);
[[nodiscard]] inline const OperatorRow* find_operator(const Node& node) { return node.op.row(); }
// Returns all rows, family by family.
[[nodiscard]] std::vector<const OperatorRow*> all_operators();

// These functions count with the row of the operation's operator, and with the defaults of OperatorFacts if
// the row has no function of its own.
[[nodiscard]] Flop flop(const Operation& operation);
[[nodiscard]] Bytes bytes_read(const Operation& operation);
[[nodiscard]] Bytes bytes_written(const Operation& operation);
[[nodiscard]] IterationSpace iteration_space(const Operation& operation);

[[nodiscard]] std::string_view name_of(NumericSafety safety);  // "allow", "infer", "clear", "deny"

}  // namespace viridian::graph
