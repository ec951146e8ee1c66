#pragma once
// Regroups sums or products of three tensors, for associate_sum and associate_product.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// Regroups the node `at`, if it and one of its operands are `op` (Add or Mul): (x ∘ y) ∘ z ⇒ x ∘ (y ∘ z) and
// x ∘ (y ∘ z) ⇒ (x ∘ z) ∘ y. Applied repeatedly, both reach every grouping. Either
// operand may be the inner one, and all orders are tried. An order is passed over if the two tensors that it
// would join differ in type or are both constant (merge_scales asks more of those), or if one of the three is
// a constant that may not be moved (safe_scaling.hpp). Returns false and edits nothing if every order is
// passed over, or if something else reads the inner result.
bool associate(Editor& editor, NodeId at, graph::KnownOperator op);

// Makes a random expression with two operators `op`.
Graph associate_instance(Random& random, ElementType element, const graph::Operator& op);

}  // namespace viridian::rewrite
