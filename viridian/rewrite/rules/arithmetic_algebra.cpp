// Sums and products of any tensors: regrouped, multiplied out, and their common factor taken out.
#include "viridian/rewrite/moderate.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

// x·z ± y·z ⇒ (x ± y)·z
bool factor(Editor& editor, NodeId at) {
    const Node& sum = editor.node(at);
    if ((sum.op != "Add" && sum.op != "Sub") || !sum.domain.empty() || sum.inputs[0] == sum.inputs[1])
        return false;
    const Node* a = editor.producer(sum.inputs[0], "Mul");
    const Node* b = editor.producer(sum.inputs[1], "Mul");
    if (a == nullptr || b == nullptr || !editor.used_once(sum.inputs[0]) || !editor.used_once(sum.inputs[1]))
        return false;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
        for (const std::size_t j : {std::size_t{0}, std::size_t{1}}) {
            if (a->inputs[i] != b->inputs[j] || !editor.same_type(a->inputs[1 - i], b->inputs[1 - j]) ||
                !moderate_where_known(editor, a->inputs[i], "Mul"))
                continue;
            const ValueId inner = editor.add(sum.op, {a->inputs[1 - i], b->inputs[1 - j]});
            editor.replace(sum.outputs[0], editor.add("Mul", {inner, a->inputs[i]}));
            return true;
        }
    return false;
}

// (x ± y)·z ⇒ x·z ± y·z
bool distribute(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != "Mul" || !product.domain.empty()) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const ValueId whole = product.inputs[side], z = product.inputs[1 - side];
        const Node* sum = editor.graph().producer(whole);
        if (sum == nullptr || !is_arithmetic(*sum) || (sum->op != "Add" && sum->op != "Sub") ||
            !editor.used_once(whole) || !editor.same_type(whole, product.outputs[0]))
            continue;
        const ValueId x = sum->inputs[0], y = sum->inputs[1];
        const bool constants = editor.fixed(z) && (editor.fixed(x) || editor.fixed(y));  // distribute_scale's
        if (x == y || constants || !editor.same_type(x, y) || !moderate_where_known(editor, x, "Add") ||
            !moderate_where_known(editor, y, "Add") || !moderate_where_known(editor, z, "Mul"))
            continue;
        const ValueId first = editor.add("Mul", {x, z});
        editor.replace(product.outputs[0], editor.add(sum->op, {first, editor.add("Mul", {y, z})}));
        return true;
    }
    return false;
}

// (x ∘ y) ∘ z ⇒ x ∘ (y ∘ z), x ∘ (y ∘ z) ⇒ (x ∘ z) ∘ y: one after the other they reach every grouping.
bool associate(Editor& editor, NodeId at, std::string_view op) {
    const Node& outer = editor.node(at);
    if (outer.op != op || !outer.domain.empty()) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* inner = editor.producer(outer.inputs[side], op);
        const ValueId z = outer.inputs[1 - side];
        if (inner == nullptr || !editor.used_once(outer.inputs[side])) continue;
        for (const std::size_t joins : {std::size_t{1}, std::size_t{0}}) {
            const ValueId x = inner->inputs[1 - joins], y = inner->inputs[joins];
            if (!editor.same_type(y, z) ||
                (editor.fixed(y) && editor.fixed(z)) ||  // merge_scales asks more of these
                !moderate_where_known(editor, x, op) || !moderate_where_known(editor, y, op) ||
                !moderate_where_known(editor, z, op))
                continue;
            const bool left = side == 0;
            const std::string name(op);
            const ValueId both = left ? editor.add(name, {y, z}) : editor.add(name, {z, y});
            editor.replace(outer.outputs[0],
                           left ? editor.add(name, {x, both}) : editor.add(name, {both, x}));
            return true;
        }
    }
    return false;
}

Graph factor_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 4), s.extent(1, 5)};
    const ValueId z = s.coin() ? s.input({dims[1]}) : s.constant({});
    const ValueId x = s.either_way("Mul", s.input(dims), z);
    return s.finish({s.add(s.coin() ? "Add" : "Sub", {x, s.either_way("Mul", s.input(dims), z)})});
}

Graph distribute_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 4), s.extent(1, 5)};
    const ValueId z = s.coin() ? s.input({dims[1]}) : s.coin() ? s.input(dims) : s.constant({});
    const ValueId sum = s.add(s.coin() ? "Add" : "Sub", {s.input(dims), s.input(dims)});
    return s.finish({s.either_way("Mul", sum, z)});
}

Graph associate_instance(Random& random, ElementType element, const char* op) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 4), s.extent(1, 5)};
    const Dims small = s.coin() ? dims : Dims{dims[1]};
    const ValueId y = s.coin() ? s.input(small) : s.constant(small);
    return s.finish({s.either_way(op, s.either_way(op, s.input(dims), y), s.input(small))});
}

constexpr std::string_view regrouped =
    "y and z of equal types, so that nothing between grows; floating constants are moderate (merge_scales), "
    "y and z not both constant; nothing else reads what lies between";

}  // namespace

Rule factor_product() {
    return {.name = "factor_product",
            .kind = Kind::alternative,
            .source = "TASO (multiplication distributes over addition)",
            .equation = "x·z ± y·z ⇒ (x ± y)·z",
            .guards =
                "x and y of equal types, z no constant or a moderate one (merge_scales); nothing else reads "
                "either product",
            .polynomial = true,
            .apply = factor,
            .instance = factor_instance};
}

Rule distribute_product() {
    return {.name = "distribute_product",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (multiplication distributes over addition)",
            .equation = "(x ± y)·z ⇒ x·z ± y·z",
            .guards =
                "x and y of equal types that z does not enlarge; floating constants are moderate "
                "(merge_scales), and not both a term and z are constant (distribute_scale); nothing else "
                "reads x ± y",
            .polynomial = true,
            .apply = distribute,
            .instance = distribute_instance};
}

Rule associate_sum() {
    return {.name = "associate_sum",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (addition is associative)",
            .equation = "(x + y) + z ⇒ x + (y + z); x + (y + z) ⇒ (x + z) + y",
            .guards = regrouped,
            .polynomial = true,
            .apply = [](Editor& editor, NodeId at) { return associate(editor, at, "Add"); },
            .instance = [](Random& r, ElementType e) { return associate_instance(r, e, "Add"); }};
}

Rule associate_product() {
    return {.name = "associate_product",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (multiplication is associative)",
            .equation = "(x·y)·z ⇒ x·(y·z); x·(y·z) ⇒ (x·z)·y",
            .guards = regrouped,
            .polynomial = true,
            .apply = [](Editor& editor, NodeId at) { return associate(editor, at, "Mul"); },
            .instance = [](Random& r, ElementType e) { return associate_instance(r, e, "Mul"); }};
}

}  // namespace viridian::rewrite
