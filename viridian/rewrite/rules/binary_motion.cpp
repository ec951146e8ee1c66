// Sums and products of two tensors change places with operators that only move elements.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

bool moves(const Node& node) {
    return node.domain.empty() && (node.op == "Transpose" || node.op == "Reshape" || node.op == "Flatten" ||
                                   node.op == "Squeeze" || node.op == "Unsqueeze");
}

const Node* movement(const Editor& editor, ValueId value) {
    const Node* node = editor.graph().producer(value);
    return node != nullptr && moves(*node) && editor.used_once(value) ? node : nullptr;
}

bool is_rank_0(const Editor& editor, ValueId value) {
    return editor.scalar(value) && editor.rank(value) == 0;
}

ValueId moved(Editor& editor, const Node& like, ValueId x) {
    std::vector<ValueId> inputs = like.inputs;
    inputs[0] = x;
    return editor.add(like.op, inputs, like.attributes);
}

// The constant `c` as it would stand before the transpose.
std::optional<ValueId> before_transpose(Editor& editor, const Node& transpose, ValueId c) {
    const auto p = permutation_of(editor, transpose);
    const auto dims = editor.dims(c);
    if (transpose.op != "Transpose" || !p || !dims || !editor.fixed(c) || dims->size() > p->size())
        return std::nullopt;
    Dims wide(p->size() - dims->size(), 1);
    wide.insert(wide.end(), dims->begin(), dims->end());
    const ValueId spread = editor.add("Reshape", {c, editor.vector_of(wide)});
    return editor.add("Transpose", {spread}, {{"perm", inverse(*p)}});
}

// g(M(x), M(y)) ⇒ M(g(x, y)), g(M(x), c) ⇒ M(g(x, c))
bool after(Editor& editor, NodeId at) {
    const Node& g = editor.node(at);
    if (!is_arithmetic(g) || g.inputs[0] == g.inputs[1]) return false;
    const Node* a = movement(editor, g.inputs[0]);
    const Node* b = movement(editor, g.inputs[1]);
    if (a != nullptr && b != nullptr) {
        if (a->op != b->op || !same_attributes(a->attributes, b->attributes) ||
            !editor.same_type(a->inputs[0], b->inputs[0]) || !editor.same_type(g.inputs[0], g.inputs[1]))
            return false;
        editor.replace(g.outputs[0], moved(editor, *a, editor.add(g.op, {a->inputs[0], b->inputs[0]})));
        return true;
    }
    const std::size_t side = a != nullptr ? 0 : 1;
    const Node* move = a != nullptr ? a : b;
    const ValueId c = g.inputs[1 - side];
    if (move == nullptr || !editor.same_type(g.inputs[side], g.outputs[0])) return false;
    ValueId operand = c;
    if (!is_rank_0(editor, c)) {
        const auto turned = before_transpose(editor, *move, c);
        if (!turned) return false;
        operand = *turned;
    }
    std::vector<ValueId> inputs = {operand, operand};
    inputs[side] = move->inputs[0];
    editor.replace(g.outputs[0], moved(editor, *move, editor.add(g.op, inputs)));
    return true;
}

// M(g(x, y)) ⇒ g(M(x), M(y)), M(g(x, c)) ⇒ g(M(x), c)
bool before(Editor& editor, NodeId at) {
    const Node& move = editor.node(at);
    if (!moves(move) || !editor.used_once(move.inputs[0])) return false;
    const Node* g = editor.graph().producer(move.inputs[0]);
    if (g == nullptr || !is_arithmetic(*g)) return false;
    if (editor.same_type(g->inputs[0], g->inputs[1])) {
        const ValueId x = moved(editor, move, g->inputs[0]);
        editor.replace(move.outputs[0], editor.add(g->op, {x, moved(editor, move, g->inputs[1])}));
        return true;
    }
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const ValueId c = g->inputs[1 - side];
        if (!is_rank_0(editor, c) || !editor.same_type(g->inputs[side], move.inputs[0])) continue;
        std::vector<ValueId> inputs = {c, c};
        inputs[side] = moved(editor, move, g->inputs[side]);
        editor.replace(move.outputs[0], editor.add(g->op, inputs));
        return true;
    }
    return false;
}

ValueId some_move(Sketch& s, ValueId x, const Dims& dims, std::int64_t kind, const Dims& perm) {
    if (kind == 0) return s.add("Transpose", {x}, {{"perm", perm}});
    if (kind == 1) return s.add("Reshape", {x, s.integers({dims[1], -1})});
    return s.add("Unsqueeze", {x, s.integers({1})});
}

Graph after_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 3), s.extent(2, 4), s.extent(2, 5)};
    const Dims perm = s.permutation(3);
    const std::int64_t kind = s.extent(0, 1);
    const char* g = s.pick<const char*>({"Add", "Sub", "Mul"});
    const ValueId x = some_move(s, s.input(dims), dims, kind, perm);
    if (s.coin()) {
        const ValueId y = some_move(s, s.input(dims), dims, kind, perm);
        return s.finish({s.add(g, {x, y})});
    }
    ValueId c = s.constant({});
    if (kind == 0 && s.coin()) c = s.constant({dims[static_cast<std::size_t>(perm[2])]});
    return s.finish({s.coin() ? s.add(g, {x, c}) : s.add(g, {c, x})});
}

Graph before_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 3), s.extent(2, 4), s.extent(2, 5)};
    const char* g = s.pick<const char*>({"Add", "Sub", "Mul"});
    const ValueId x = s.input(dims);
    const ValueId y = s.coin() ? s.input(dims) : s.constant({});
    return s.finish({some_move(s, s.coin() ? s.add(g, {x, y}) : s.add(g, {y, x}), dims, s.extent(0, 2),
                               s.permutation(3))});
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
            .apply = after,
            .instance = after_instance};
}

Rule move_arithmetic_before() {
    return {.name = "move_arithmetic_before",
            .kind = Kind::alternative,
            .source = "TASO; ONNX Runtime TransposeOptimizer",
            .equation = "M(g(x, y)) ⇒ g(M(x), M(y)); M(g(x, c)) ⇒ g(M(x), c)",
            .guards =
                "g ∈ {+, −, ·, /}; M a Transpose, Reshape, Flatten, Squeeze or Unsqueeze; x and y of equal "
                "types, or c a constant of rank 0; nothing else reads what lies between",
            .polynomial = true,
            .apply = before,
            .instance = before_instance};
}

}  // namespace viridian::rewrite
