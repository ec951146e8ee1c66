// Applies a function before pooling: f(MaxPool(x)) ⇒ MaxPool(f(x)), for functions f that never decrease. TASO
// states that relu and pooling commute; pool_before_function is the reverse.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/pooling/monotone_pooling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_pool_after_function(Editor& editor, NodeId at) {
    const Node& f = editor.node(at);
    const Node* pool = never_decreases(f) ? editor.graph().producer(f.inputs[0]) : nullptr;
    return pool != nullptr && is_plain_max_pool(*pool) && exchange(editor, *pool, f);
}

}  // namespace

Rule pool_after_function() {
    return {.name = "pool_after_function",
            .kind = Kind::alternative,
            .source = "TASO (relu and pooling commute)",
            .equation = "f(MaxPool(x)) ⇒ MaxPool(f(x))",
            .guards = "f ∈ {Relu, Sigmoid, Tanh, LeakyRelu with α ≥ 0}; no window lies in padding alone",
            .apply = apply_pool_after_function,
            .instance = [](Random& r, ElementType e) { return max_pool_instance(r, e, false); }};
}

}  // namespace viridian::rewrite
