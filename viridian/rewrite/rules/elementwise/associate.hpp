#pragma once
// Regroups sums or products of three tensors, for associate_sum and associate_product.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// Regroups the node `at`, if it and one of its operands are `op` (Add or Mul): (x ∘ y) ∘ z ⇒ x ∘ (y ∘ z) and
// x ∘ (y ∘ z) ⇒ (x ∘ z) ∘ y. Applied repeatedly, both reach every grouping. Returns false and edits nothing
// if the types of y and z differ, if both are constant (merge_scales asks more of those), or if a constant
// does not keep the range.
bool associate(Editor& editor, NodeId at, graph::KnownOperator op);

// Makes a random expression of two `op`.
Graph associate_instance(Random& random, ElementType element, graph::Operator op);

}  // namespace viridian::rewrite
