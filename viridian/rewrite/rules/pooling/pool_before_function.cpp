// Pools before a function is applied: MaxPool(f(x)) ⇒ f(MaxPool(x)), for functions f that never decrease.
// TASO states that relu and pooling commute; pool_after_function is the reverse.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/pooling/monotone_pooling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_pool_before_function(Editor& editor, NodeId at) {
    const Node& pool = editor.node(at);
    const Node* f = is_plain_max_pool(pool) ? editor.graph().producer(pool.inputs[0]) : nullptr;
    return f != nullptr && never_decreases(*f) && exchange(editor, *f, pool);
}

}  // namespace

Rule pool_before_function() {
    return {.name = "pool_before_function",
            .kind = Kind::alternative,
            .source = "TASO (relu and pooling commute)",
            .equation = "MaxPool(f(x)) ⇒ f(MaxPool(x))",
            .guards = "f ∈ {Relu, Sigmoid, Tanh, LeakyRelu with α ≥ 0}; no window lies in padding alone",
            .apply = apply_pool_before_function,
            .instance = [](Random& r, ElementType e) { return max_pool_instance(r, e, true); }};
}

}  // namespace viridian::rewrite
