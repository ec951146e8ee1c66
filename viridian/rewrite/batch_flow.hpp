#pragma once
// Follows the entries of a batch through a network. A network that treats each entry alone may treat a few
// of them at a time (split_batch).
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// A BatchFlow knows which values hold the entries of the batch one after the other along axis 0. These are
// the inputs of the graph with `batch` entries along axis 0, and whatever is computed from them by
// operators that treat each of `parts` equal slices of axis 0 alone.
class BatchFlow {
  public:
    // Follows the inputs of `batch` entries in the graph of `editor`, which must outlive the object.
    BatchFlow(const Editor& editor, std::int64_t batch, std::int64_t parts);

    // Returns whether `value` is known to hold entries of the batch.
    [[nodiscard]] bool holds(ValueId value) const { return value != ValueId::none && holds_[index(value)]; }
    // Returns whether the node reads entries of the batch and all its outputs hold them in their order, and
    // remembers that of its outputs. Ask about nodes in topological order.
    bool follow(NodeId id);

  private:
    [[nodiscard]] bool treats_slices_alone(const Node& node) const;
    // Returns whether no input from number `from` on holds entries, so that all slices read the same.
    [[nodiscard]] bool shares_inputs(const Node& node, std::size_t from) const;
    // Returns whether all inputs from number 1 on broadcast along axis 0 of the first.
    [[nodiscard]] bool broadcasts_parameters(const Node& node) const;
    [[nodiscard]] bool follows_pointwise(const Node& node) const;
    [[nodiscard]] bool follows_matmul(const Node& node) const;
    [[nodiscard]] bool follows_gemm(const Node& node) const;
    [[nodiscard]] bool follows_gather(const Node& node) const;
    // Returns whether the axes that the second input lists, of the value `of`, lie behind axis 0.
    [[nodiscard]] bool axes_behind(const Node& node, ValueId of) const;
    [[nodiscard]] bool axis_behind(const Node& node, std::int64_t otherwise) const;
    // Returns whether every slice of a result of `rank` axes reads the same elements of `value`.
    [[nodiscard]] bool broadcasts(ValueId value, std::int64_t rank) const;

    const Editor& editor_;
    std::int64_t parts_;
    std::vector<bool> holds_;  // by value
};

}  // namespace viridian::rewrite
