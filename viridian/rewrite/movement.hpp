#pragma once
// Transposes, splits and concatenations, read and written by rules that move them.
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// A Transpose's permutation; the default reverses. None where the rank is unknown.
[[nodiscard]] std::optional<Dims> permutation_of(const Editor& editor, const Node& transpose);
[[nodiscard]] Dims inverse(const Dims& permutation);

// The node's attribute `axis`, counted from the front of its first input. None where its rank is unknown.
[[nodiscard]] std::optional<std::int64_t> axis_of(const Editor& editor, const Node& node,
                                                  std::int64_t otherwise = 0);

// A Split whose parts are all there and of known extent.
struct Parts {
    ValueId whole = ValueId::none;
    std::int64_t axis = 0;
    std::vector<ValueId> values;
    Dims sizes;  // along the axis
    static std::optional<Parts> of(const Editor& editor, const Node& node);
};
std::vector<ValueId> add_split(Editor& editor, ValueId whole, std::int64_t axis, const Dims& sizes);
ValueId add_concat(Editor& editor, std::vector<ValueId> parts, std::int64_t axis);

// The only node that reads `value`; null where others do, or the graph's outputs.
[[nodiscard]] const Node* only_reader(const Editor& editor, ValueId value);
// An element-wise function of one input and one output.
[[nodiscard]] bool is_function(const Node& node);
// Add, Sub, Mul or Div.
[[nodiscard]] bool is_arithmetic(const Node& node);

}  // namespace viridian::rewrite
