// Moves elements before a function is applied: Transpose(f(x)) ⇒ f(Transpose(x)), for Reshape, Flatten,
// Squeeze and Unsqueeze too. TASO and ONNX Runtime's TransposeOptimizer have it; move_elements_after is the
// reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/movement/random_movement.hpp"

namespace viridian::rewrite {
namespace {

bool apply_move_elements_before(Editor& editor, NodeId at) {
    const Node& move = editor.node(at);
    const Node* f = moves_elements(move) ? editor.graph().producer(move.inputs[0]) : nullptr;
    return f != nullptr && is_function(*f) && exchange(editor, *f, move);
}

Graph move_elements_before_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(2, 4), g.extent(2, 5)};
    return g.finish({random_movement(g, random_function(g, g.input(dims)), dims)});
}

}  // namespace

Rule move_elements_before() {
    return {.name = "move_elements_before",
            .kind = Kind::alternative,
            .source = "TASO; ONNX Runtime TransposeOptimizer",
            .equation = "Transpose(f(x)) ⇒ f(Transpose(x)); Reshape, Flatten, Squeeze, Unsqueeze alike",
            .guards = "f is an element-wise function of one input; nothing else reads what lies between",
            .apply = apply_move_elements_before,
            .instance = move_elements_before_instance};
}

}  // namespace viridian::rewrite
