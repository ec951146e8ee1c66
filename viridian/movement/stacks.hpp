#pragma once
// Contractions that read one tensor with different other operands can be stacked: x·A, x·B and x·C are
// columns of x·[A B C]. SUBSTATION calls this algebraic fusion (section IV-D), and its operators on queries,
// keys and values are those of a stacked tensor.
#include "viridian/graph/graph.hpp"

namespace viridian::movement {

class Stacks {
  public:
    // Finds the contractions of `graph` that have an operator, attributes, types and one operand in common.
    explicit Stacks(const graph::Graph& graph);

    // Returns one value that stands for all parts of the stacked tensor of which `value` is a part; for a
    // value that is no part of any, itself. Parts are the results of stacked contractions and their other
    // operands, and what lies behind the latter if equal views lead to it.
    [[nodiscard]] graph::ValueId tensor_of(graph::ValueId value) const;

  private:
    void stack(const graph::Graph& graph, const graph::Node& a, const graph::Node& b, std::size_t shared);
    void join(graph::ValueId a, graph::ValueId b);

    std::vector<graph::ValueId> parent_;
};

}  // namespace viridian::movement
