// Applies a function before elements are moved: f(Transpose(x)) ⇒ Transpose(f(x)), for Reshape, Flatten,
// Squeeze and Unsqueeze too. TASO and ONNX Runtime's TransposeOptimizer have it; move_elements_before is the
// reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/movement/random_movement.hpp"

namespace viridian::rewrite {
namespace {

bool apply_move_elements_after(Editor& editor, NodeId at) {
    const Node& f = editor.node(at);
    const Node* before = is_function(f) ? editor.graph().producer(f.inputs[0]) : nullptr;
    return before != nullptr && moves_elements(*before) && exchange(editor, *before, f);
}

Graph move_elements_after_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(2, 4), g.extent(2, 5)};
    return g.finish({random_function(g, random_movement(g, g.input(dims), dims))});
}

}  // namespace

Rule move_elements_after() {
    return {.name = "move_elements_after",
            .kind = Kind::alternative,
            .source = "TASO; ONNX Runtime TransposeOptimizer",
            .equation = "f(Transpose(x)) ⇒ Transpose(f(x)); Reshape, Flatten, Squeeze, Unsqueeze alike",
            .guards = "f is an element-wise function of one input; nothing else reads what lies between",
            .apply = apply_move_elements_after,
            .instance = move_elements_after_instance};
}

}  // namespace viridian::rewrite
