#pragma once
// Which values hold one sample after the other along their first axis: what a network does to each sample by
// itself, it may do to some of them at a time.
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// Values of graph.inputs() with `batch` entries along axis 0, and what is computed from them by operators
// that treat the slices of axis 0, `parts` equal ones, each by itself.
class Samples {
  public:
    Samples(const Editor& editor, std::int64_t batch, std::int64_t parts);

    [[nodiscard]] bool holds(ValueId value) const { return value != ValueId::none && holds_[index(value)]; }
    // The node reads samples, and every output then holds the samples in their order. Its operator gives them
    // once it is asked about, so that nodes are asked about in topological order.
    bool follow(NodeId id);

  private:
    [[nodiscard]] bool one_by_one(const Node& node) const;
    [[nodiscard]] bool shared(const Node& node, std::size_t from) const;  // inputs from `from` on
    [[nodiscard]] bool elements(const Node& node) const;
    [[nodiscard]] bool product(const Node& node) const;
    [[nodiscard]] bool gemm(const Node& node) const;
    [[nodiscard]] bool gathered(const Node& node) const;
    [[nodiscard]] bool axes_behind(const Node& node, ValueId of) const;
    [[nodiscard]] bool axis_behind(const Node& node, std::int64_t otherwise) const;
    // The same for every slice of a result of `rank` axes.
    [[nodiscard]] bool broadcasts(ValueId value, std::int64_t rank) const;

    const Editor& editor_;
    std::int64_t parts_;
    std::vector<bool> holds_;  // by value
};

}  // namespace viridian::rewrite
