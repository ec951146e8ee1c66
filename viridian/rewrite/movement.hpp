#pragma once
// Reads, adds and exchanges transposes, splits and concatenations for rules.
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// Returns the permutation of a Transpose, which reverses the axes by default; none if the rank is unknown.
[[nodiscard]] std::optional<Dims> permutation_of(const Editor& editor, const Node& transpose);
// Returns the permutation that undoes `permutation`.
[[nodiscard]] Dims inverse(const Dims& permutation);

// Returns the attribute `axis` of `node`, counted from the front of its first input, and `otherwise` if the
// node has none. Returns none if the rank is unknown.
[[nodiscard]] std::optional<std::int64_t> axis_of(const Editor& editor, const Node& node,
                                                  std::int64_t otherwise = 0);

// Parts are the parts of a Split with known extents, all of which exist.
struct Parts {
    ValueId whole = ValueId::none;
    std::int64_t axis = 0;
    std::vector<ValueId> values;
    Dims sizes;  // along the axis
    // Reads `node`; none if it is no such Split.
    static std::optional<Parts> of(const Editor& editor, const Node& node);
};
// Adds a Split of `whole` into parts of these sizes along `axis`.
std::vector<ValueId> add_split(Editor& editor, ValueId whole, std::int64_t axis, const Dims& sizes);
// Adds a Concat of `parts` along `axis`.
ValueId add_concat(Editor& editor, std::vector<ValueId> parts, std::int64_t axis);

// Returns whether the types of `a` and `b` are known and equal in every dimension except `axis`.
[[nodiscard]] bool same_beside(const Editor& editor, ValueId a, ValueId b, std::size_t axis);

// Returns the Concat of two or more parts that only `node` reads, as its first input; else null.
[[nodiscard]] const Node* joined_input(const Editor& editor, const Node& node);
// Returns the only node that reads `value`; null if others do, or if it is an output of the graph.
[[nodiscard]] const Node* only_reader(const Editor& editor, ValueId value);

// Returns whether `node` is an element-wise function of one input and one output.
[[nodiscard]] bool is_function(const Node& node);
// Returns whether `node` is Add, Sub, Mul or Div.
[[nodiscard]] bool is_arithmetic(const Node& node);
// Returns whether `node` rearranges all elements of its first input by its attributes and shapes alone, as
// Transpose and Reshape do.
[[nodiscard]] bool moves_elements(const Node& node);

// Moves `x` as the node `movement` moves its first input.
ValueId moved_alike(Editor& editor, const Node& movement, ValueId x);

// Replaces second(first(x)) by first(second(x)); attributes and further inputs stay. Returns false and edits
// nothing if something else reads first(x).
bool exchange(Editor& editor, const Node& first, const Node& second);

}  // namespace viridian::rewrite
