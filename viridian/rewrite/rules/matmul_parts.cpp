// Products of what is concatenated: [A, B] beside, below, or summed over.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

const Node* matrix_product(const Editor& editor, ValueId value) {
    const Node* node = editor.producer(value, "MatMul");
    return node != nullptr && editor.used_once(value) && editor.rank(node->inputs[0]).value_or(0) >= 2 &&
                   editor.rank(node->inputs[1]).value_or(0) >= 2
               ? node
               : nullptr;
}

// [x·A, x·B] ⇒ x·[A, B]; [x·A; y·A] ⇒ [x; y]·A
bool concat_inside(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != "Concat" || !joined.domain.empty() || joined.inputs.size() < 2) return false;
    const auto axis = axis_of(editor, joined);
    const auto rank = editor.rank(joined.outputs[0]);
    const Node* first = matrix_product(editor, joined.inputs[0]);
    if (!axis || !rank || first == nullptr || *axis < *rank - 2) return false;
    const std::size_t apart = *axis == *rank - 1 ? 1 : 0;  // the operand that is concatenated
    std::vector<ValueId> parts;
    for (const ValueId input : joined.inputs) {
        const Node* product = matrix_product(editor, input);
        if (product == nullptr || product->inputs[1 - apart] != first->inputs[1 - apart]) return false;
        const ValueId part = product->inputs[apart];
        const auto part_rank = editor.rank(part);
        if (part_rank != editor.rank(first->inputs[apart]) ||
            !same_beside(editor, part, first->inputs[apart],
                         static_cast<std::size_t>(*part_rank - (*rank - *axis))))
            return false;
        parts.push_back(part);
    }
    std::vector<ValueId> inputs = first->inputs;
    inputs[apart] = add_concat(editor, parts, *editor.rank(first->inputs[apart]) - (*rank - *axis));
    editor.replace(joined.outputs[0], editor.add("MatMul", inputs));
    return true;
}

// x·A + y·B ⇒ [x, y]·[A; B]
bool sum_inside(Editor& editor, NodeId at) {
    const Node& sum = editor.node(at);
    if (sum.op != "Add" || !sum.domain.empty() || sum.inputs[0] == sum.inputs[1]) return false;
    const Node* a = matrix_product(editor, sum.inputs[0]);
    const Node* b = matrix_product(editor, sum.inputs[1]);
    if (a == nullptr || b == nullptr || !editor.same_type(sum.inputs[0], sum.inputs[1])) return false;
    const std::int64_t left = *editor.rank(a->inputs[0]), right = *editor.rank(a->inputs[1]);
    if (editor.rank(b->inputs[0]) != left || editor.rank(b->inputs[1]) != right ||
        !same_beside(editor, a->inputs[0], b->inputs[0], static_cast<std::size_t>(left - 1)) ||
        !same_beside(editor, a->inputs[1], b->inputs[1], static_cast<std::size_t>(right - 2)))
        return false;
    editor.replace(sum.outputs[0],
                   editor.add("MatMul", {add_concat(editor, {a->inputs[0], b->inputs[0]}, left - 1),
                                         add_concat(editor, {a->inputs[1], b->inputs[1]}, right - 2)}));
    return true;
}

// [x, y]·W ⇒ x·W₁ + y·W₂
bool sum_outside(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != "MatMul" || !product.domain.empty() || !editor.fixed(product.inputs[1]) ||
        editor.rank(product.inputs[1]) != 2)
        return false;
    const Node* joined = editor.producer(product.inputs[0], "Concat");
    const auto axis = joined != nullptr ? axis_of(editor, *joined) : std::nullopt;
    if (!axis || !editor.used_once(product.inputs[0]) || *axis + 1 != editor.rank(product.inputs[0]) ||
        *axis == 0 || joined->inputs.size() != 2)
        return false;
    Dims sizes;
    for (const ValueId input : joined->inputs) {
        const auto dims = editor.dims(input);
        if (!dims) return false;
        sizes.push_back(dims->back());
    }
    const std::vector<ValueId> weights = add_split(editor, product.inputs[1], 0, sizes);
    editor.replace(product.outputs[0],
                   editor.add("Add", {editor.add("MatMul", {joined->inputs[0], weights[0]}),
                                      editor.add("MatMul", {joined->inputs[1], weights[1]})}));
    return true;
}

Graph concat_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t batch = s.extent(1, 3), i = s.extent(1, 4), k = s.extent(1, 5), j = s.extent(1, 4);
    const bool batched = s.coin();
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
        return batched ? s.input({batch, rows, columns}) : s.input({rows, columns});
    };
    const bool columns = s.coin();
    const ValueId shared = columns ? matrix(i, k) : matrix(k, j);
    std::vector<ValueId> products;
    for (int n = 0; n < 3; ++n)
        products.push_back(columns ? s.add("MatMul", {shared, matrix(k, s.extent(1, 4))})
                                   : s.add("MatMul", {matrix(s.extent(1, 4), k), shared}));
    return s.finish({s.add("Concat", products, {{"axis", std::int64_t{columns ? -1 : -2}}})});
}

Graph sum_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t i = s.extent(1, 4), j = s.extent(1, 4), batch = s.extent(1, 3);
    const bool batched = s.coin();
    const auto product = [&] {
        const std::int64_t k = s.extent(1, 5);
        const ValueId x = batched ? s.input({batch, i, k}) : s.input({i, k});
        return s.add("MatMul", {x, s.constant({k, j})});
    };
    const ValueId a = product();
    return s.finish({s.add("Add", {a, product()})});
}

Graph apart_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t i = s.extent(1, 4), a = s.extent(1, 4), b = s.extent(1, 5);
    const ValueId x = s.input({2, i, a});
    const ValueId joined =
        s.add("Concat", {x, s.input({2, i, b})}, {{"axis", std::int64_t{s.coin() ? 2 : -1}}});
    return s.finish({s.add("MatMul", {joined, s.constant({a + b, s.extent(1, 5)})})});
}

}  // namespace

Rule concat_matmuls() {
    return {.name = "concat_matmuls",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (concat of products)",
            .equation = "[x·A, x·B] ⇒ x·[A, B]; [x·A; y·A] ⇒ [x; y]·A",
            .guards =
                "along one of the last two axes; operands equal in every other extent; nothing else reads "
                "the products",
            .polynomial = true,
            .apply = concat_inside,
            .instance = concat_instance};
}

Rule add_matmuls() {
    return {
        .name = "add_matmuls",
        .kind = Kind::alternative,
        .source = "TASO; Tensat (sum of products as a product of concatenations)",
        .equation = "x·A + y·B ⇒ [x, y]·[A; B]",
        .guards =
            "operands equal in every extent but the one that is summed over; nothing else reads the products",
        .polynomial = true,
        .apply = sum_inside,
        .instance = sum_instance};
}

Rule split_matmul_input() {
    return {.name = "split_matmul_input",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (add_matmuls, backwards)",
            .equation = "[x, y]·W ⇒ x·W₁ + y·W₂",
            .guards = "W is a constant matrix; nothing else reads the concatenation",
            .polynomial = true,
            .apply = sum_outside,
            .instance = apart_instance};
}

}  // namespace viridian::rewrite
