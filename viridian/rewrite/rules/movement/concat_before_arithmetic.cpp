// Concatenates the operands instead of the results: [g(x₁, y₁), …, g(xₙ, yₙ)] ⇒ g([x₁, …, xₙ], [y₁, …, yₙ]),
// for g ∈ {+, −, ·, /}. TASO and Tensat have it.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_concat_before_arithmetic(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != op::Concat || joined.inputs.size() < 2) return false;
    const Node* first = editor.graph().producer(joined.inputs[0]);
    std::vector<ValueId> left, right;
    for (const ValueId input : joined.inputs) {
        const Node* g = editor.graph().producer(input);
        if (g == nullptr || !is_arithmetic(*g) || g->op != first->op || !editor.used_once(input) ||
            !editor.same_type(g->inputs[0], g->inputs[1]))
            return false;
        left.push_back(g->inputs[0]);
        right.push_back(g->inputs[1]);
    }
    const ValueId a = editor.add(op::Concat, left, joined.attributes);
    editor.replace(joined.outputs[0],
                   editor.add(first->op, {a, editor.add(op::Concat, right, joined.attributes)}));
    return true;
}

Graph concat_before_arithmetic_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const char* op = g.pick<const char*>({"Add", "Sub", "Mul"});
    const std::int64_t rows = g.extent(1, 4);
    std::vector<ValueId> parts;
    for (int i = 0; i < 3; ++i) {
        const Dims dims = {rows, g.extent(1, 5)};
        const ValueId x = g.input(dims);
        parts.push_back(g.add(op, {x, g.coin() ? g.input(dims) : g.constant(dims)}));
    }
    return g.finish({g.add(op::Concat, parts, {{"axis", std::int64_t{1}}})});
}

}  // namespace

Rule concat_before_arithmetic() {
    return {.name = "concat_before_arithmetic",
            .kind = Kind::alternative,
            .source = "TASO; Tensat",
            .equation = "[g(x₁, y₁), …, g(xₙ, yₙ)] ⇒ g([x₁, …, xₙ], [y₁, …, yₙ])",
            .guards = "g ∈ {+, −, ·, /}, xᵢ and yᵢ of equal types; nothing else reads what lies between",
            .polynomial = true,
            .apply = apply_concat_before_arithmetic,
            .instance = concat_before_arithmetic_instance};
}

}  // namespace viridian::rewrite
