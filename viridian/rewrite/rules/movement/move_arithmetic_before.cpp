// Moves elements before adding or multiplying: M(g(x, y)) ⇒ g(M(x), M(y)) and M(g(x, c)) ⇒ g(M(x), c), for g
// ∈ {+, −, ·, /} and a movement M such as Transpose. TASO and ONNX Runtime's TransposeOptimizer have it.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/movement/random_movement.hpp"

namespace viridian::rewrite {
namespace {

bool apply_move_arithmetic_before(Editor& editor, NodeId at) {
    const Node& move = editor.node(at);
    if (!moves_elements(move) || !editor.used_once(move.inputs[0])) return false;
    const Node* g = editor.graph().producer(move.inputs[0]);
    if (g == nullptr || !is_arithmetic(*g)) return false;
    if (editor.same_type(g->inputs[0], g->inputs[1])) {
        const ValueId x = moved_alike(editor, move, g->inputs[0]);
        editor.replace(move.outputs[0], editor.add(g->op, {x, moved_alike(editor, move, g->inputs[1])}));
        return true;
    }
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const ValueId c = g->inputs[1 - side];
        if (!editor.is_number(c) || !editor.same_type(g->inputs[side], move.inputs[0])) continue;
        std::vector<ValueId> inputs = {c, c};
        inputs[side] = moved_alike(editor, move, g->inputs[side]);
        editor.replace(move.outputs[0], editor.add(g->op, inputs));
        return true;
    }
    return false;
}

Graph move_arithmetic_before_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(2, 4), g.extent(2, 5)};
    const char* op = g.pick<const char*>({"Add", "Sub", "Mul"});
    const ValueId x = g.input(dims);
    const ValueId y = g.coin() ? g.input(dims) : g.constant({});
    const Dims perm = g.permutation(3);
    const std::int64_t kind = g.extent(0, 2);
    return g.finish(
        {movement_of_kind(g, kind, g.coin() ? g.add(op, {x, y}) : g.add(op, {y, x}), dims, perm)});
}

}  // namespace

Rule move_arithmetic_before() {
    return {.name = "move_arithmetic_before",
            .kind = Kind::alternative,
            .source = "TASO; ONNX Runtime TransposeOptimizer",
            .equation = "M(g(x, y)) ⇒ g(M(x), M(y)); M(g(x, c)) ⇒ g(M(x), c)",
            .guards =
                "g ∈ {+, −, ·, /}; M a Transpose, Reshape, Flatten, Squeeze or Unsqueeze; x and y of equal "
                "types, or c a constant of rank 0; nothing else reads what lies between",
            .polynomial = true,
            .apply = apply_move_arithmetic_before,
            .instance = move_arithmetic_before_instance};
}

}  // namespace viridian::rewrite
