// Adds or multiplies before elements are moved: g(M(x), M(y)) ⇒ M(g(x, y)) and g(M(x), c) ⇒ M(g(x, M⁻¹(c))),
// for g ∈ {+, −, ·, /} and a movement M such as Transpose. TASO and ONNX Runtime's TransposeOptimizer have
// it.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/movement/random_movement.hpp"

namespace viridian::rewrite {
namespace {

const Node* movement_read_once(const Editor& editor, ValueId value) {
    const Node* node = editor.graph().producer(value);
    return node != nullptr && moves_elements(*node) && editor.used_once(value) ? node : nullptr;
}

// The constant `c` as it would stand before the transpose.
std::optional<ValueId> constant_before_transpose(Editor& editor, const Node& transpose, ValueId c) {
    const auto p = permutation_of(editor, transpose);
    const auto dims = editor.dims(c);
    if (transpose.op != op::Transpose || !p || !dims || !editor.fixed(c) || dims->size() > p->size())
        return std::nullopt;
    Dims wide(p->size() - dims->size(), 1);
    wide.insert(wide.end(), dims->begin(), dims->end());
    const ValueId spread = editor.add(op::Reshape, {c, editor.vector_of(wide)});
    return editor.add(op::Transpose, {spread}, {{"perm", inverse(*p)}});
}

bool apply_move_arithmetic_after(Editor& editor, NodeId at) {
    const Node& g = editor.node(at);
    if (!is_arithmetic(g) || g.inputs[0] == g.inputs[1]) return false;
    const Node* a = movement_read_once(editor, g.inputs[0]);
    const Node* b = movement_read_once(editor, g.inputs[1]);
    if (a != nullptr && b != nullptr) {
        if (!same_operator(*a, *b) || !editor.same_type(a->inputs[0], b->inputs[0]) ||
            !editor.same_type(g.inputs[0], g.inputs[1]))
            return false;
        editor.replace(g.outputs[0], moved_alike(editor, *a, editor.add(g.op, {a->inputs[0], b->inputs[0]})));
        return true;
    }
    const std::size_t side = a != nullptr ? 0 : 1;
    const Node* move = a != nullptr ? a : b;
    const ValueId c = g.inputs[1 - side];
    if (move == nullptr || !editor.same_type(g.inputs[side], g.outputs[0])) return false;
    ValueId operand = c;
    if (!editor.is_number(c)) {
        const auto turned = constant_before_transpose(editor, *move, c);
        if (!turned) return false;
        operand = *turned;
    }
    std::vector<ValueId> inputs = {operand, operand};
    inputs[side] = move->inputs[0];
    editor.replace(g.outputs[0], moved_alike(editor, *move, editor.add(g.op, inputs)));
    return true;
}

Graph move_arithmetic_after_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(2, 4), g.extent(2, 5)};
    const Dims perm = g.permutation(3);
    const std::int64_t kind = g.extent(0, 1);
    const char* op = g.pick<const char*>({"Add", "Sub", "Mul"});
    const ValueId x = movement_of_kind(g, kind, g.input(dims), dims, perm);
    if (g.coin()) {
        const ValueId y = movement_of_kind(g, kind, g.input(dims), dims, perm);
        return g.finish({g.add(op, {x, y})});
    }
    ValueId c = g.constant({});
    if (kind == 0 && g.coin()) c = g.constant({dims[static_cast<std::size_t>(perm[2])]});
    return g.finish({g.coin() ? g.add(op, {x, c}) : g.add(op, {c, x})});
}

}  // namespace

Rule move_arithmetic_after() {
    return {.name = "move_arithmetic_after",
            .kind = Kind::alternative,
            .source = "TASO; ONNX Runtime TransposeOptimizer",
            .equation = "g(M(x), M(y)) ⇒ M(g(x, y)); g(M(x), c) ⇒ M(g(x, M⁻¹(c)))",
            .guards =
                "g ∈ {+, −, ·, /}; M a Transpose, Reshape, Flatten, Squeeze or Unsqueeze, the same on both "
                "sides of equal types; c constant: a number, or any where M is a Transpose and c does not "
                "enlarge x; nothing else reads what lies between",
            .polynomial = true,
            .apply = apply_move_arithmetic_after,
            .instance = move_arithmetic_after_instance};
}

}  // namespace viridian::rewrite
