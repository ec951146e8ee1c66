#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

bool matrices(const Editor& editor, const Node& product) {
    return editor.rank(product.inputs[0]).value_or(0) >= 2 && editor.rank(product.inputs[1]).value_or(0) >= 2;
}

// The product that input `side` of a MatMul is, read by nothing else.
const Node* inner(const Editor& editor, const Node& outer, std::size_t side) {
    if (outer.op != "MatMul" || !matrices(editor, outer)) return nullptr;
    const Node* product = editor.producer(outer.inputs[side], "MatMul");
    return product != nullptr && editor.used_once(outer.inputs[side]) && matrices(editor, *product) ? product
                                                                                                    : nullptr;
}

bool to_right(Editor& editor, NodeId at) {
    const Node& outer = editor.node(at);
    const Node* left = inner(editor, outer, 0);
    if (left == nullptr) return false;
    const ValueId right = editor.add("MatMul", {left->inputs[1], outer.inputs[1]});
    editor.replace(outer.outputs[0], editor.add("MatMul", {left->inputs[0], right}));
    return true;
}

bool to_left(Editor& editor, NodeId at) {
    const Node& outer = editor.node(at);
    const Node* right = inner(editor, outer, 1);
    if (right == nullptr) return false;
    const ValueId left = editor.add("MatMul", {outer.inputs[0], right->inputs[0]});
    editor.replace(outer.outputs[0], editor.add("MatMul", {left, right->inputs[1]}));
    return true;
}

bool factor_out(Editor& editor, NodeId at) {
    const Node& sum = editor.node(at);
    if ((sum.op != "Add" && sum.op != "Sub") || sum.inputs[0] == sum.inputs[1]) return false;
    const Node* a = editor.producer(sum.inputs[0], "MatMul");
    const Node* b = editor.producer(sum.inputs[1], "MatMul");
    if (a == nullptr || b == nullptr || !editor.used_once(sum.inputs[0]) ||
        !editor.used_once(sum.inputs[1]) || !matrices(editor, *a) || !matrices(editor, *b))
        return false;
    for (const std::size_t shared : {std::size_t{0}, std::size_t{1}}) {
        const std::size_t apart = 1 - shared;
        if (a->inputs[shared] != b->inputs[shared] || !editor.same_type(a->inputs[apart], b->inputs[apart]))
            continue;
        const ValueId terms = editor.add(sum.op, {a->inputs[apart], b->inputs[apart]});
        std::vector<ValueId> inputs(2);
        inputs[shared] = a->inputs[shared];
        inputs[apart] = terms;
        editor.replace(sum.outputs[0], editor.add("MatMul", inputs));
        return true;
    }
    return false;
}

// a [i, j], b [j, k], c [k, l], with batches that broadcast.
struct Three {
    ValueId a, b, c;
};
Three three(Sketch& s) {
    const std::int64_t i = s.extent(1, 4), j = s.extent(1, 5), k = s.extent(1, 3), l = s.extent(1, 6);
    const std::int64_t batch = s.extent(2, 3);
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
        return s.coin() ? s.input({rows, columns}) : s.input({batch, rows, columns});
    };
    const ValueId a = matrix(i, j);
    const ValueId b = matrix(j, k);
    return {a, b, matrix(k, l)};
}

Graph left_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const auto [a, b, c] = three(s);
    return s.finish({s.add("MatMul", {s.add("MatMul", {a, b}), c})});
}

Graph right_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const auto [a, b, c] = three(s);
    return s.finish({s.add("MatMul", {a, s.add("MatMul", {b, c})})});
}

Graph sum_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims left = {s.extent(1, 4), s.extent(1, 5)};
    const Dims right = {left[1], s.extent(1, 6)};
    const std::string op = s.coin() ? "Add" : "Sub";
    if (s.coin()) {
        const ValueId a = s.input(left);
        const ValueId b = s.input(right);
        return s.finish({s.add(op, {s.add("MatMul", {a, b}), s.add("MatMul", {a, s.constant(right)})})});
    }
    const ValueId b = s.input(right);
    const ValueId a = s.input(left);
    return s.finish({s.add(op, {s.add("MatMul", {a, b}), s.add("MatMul", {s.input(left), b})})});
}

constexpr std::string_view shape_guard =
    "all are matrices, or batches of them; nothing else reads the inner product";

}  // namespace

Rule associate_right() {
    return {.name = "associate_right",
            .kind = Kind::alternative,
            .source = "TASO (matmul is associative)",
            .equation = "(a·b)·c ⇒ a·(b·c)",
            .guards = shape_guard,
            .polynomial = true,
            .apply = to_right,
            .instance = left_instance};
}

Rule associate_left() {
    return {.name = "associate_left",
            .kind = Kind::alternative,
            .source = "TASO (matmul is associative)",
            .equation = "a·(b·c) ⇒ (a·b)·c",
            .guards = shape_guard,
            .polynomial = true,
            .apply = to_left,
            .instance = right_instance};
}

Rule factor_matmul() {
    return {.name = "factor_matmul",
            .kind = Kind::alternative,
            .source = "TASO (matmul is linear)",
            .equation = "a·b ± a·c ⇒ a·(b ± c); b·a ± c·a ⇒ (b ± c)·a",
            .guards = "b and c have the same type; nothing else reads either product",
            .polynomial = true,
            .apply = factor_out,
            .instance = sum_instance};
}

}  // namespace viridian::rewrite
