// Splits before a function is applied: Split(f(x)) ⇒ f(x₁), …, f(xₙ), where x₁, …, xₙ = Split(x). TASO and
// Tensat state that both commute; function_before_split is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_function_after_split(Editor& editor, NodeId at) {
    const auto parts = Parts::of(editor, editor.node(at));
    const Node* f = parts ? editor.graph().producer(parts->whole) : nullptr;
    if (f == nullptr || !is_function(*f) || !editor.used_once(parts->whole)) return false;
    const std::vector<ValueId> fresh = add_split(editor, f->inputs[0], parts->axis, parts->sizes);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        Node one = *f;
        one.inputs = {fresh[i]};
        one.name.clear();
        editor.replace(parts->values[i], editor.add_node(std::move(one), 1)[0]);
    }
    return true;
}

Graph function_after_split_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims sizes = {g.extent(1, 3), g.extent(1, 4), g.extent(1, 5)};
    const ValueId x = g.input({g.extent(1, 3), sizes[0] + sizes[1] + sizes[2], g.extent(1, 4)});
    const ValueId y = g.add(g.pick<const char*>({"Relu", "Tanh", "Neg"}), {x});
    std::vector<ValueId> outputs;
    for (const ValueId part : g.split(y, g.coin() ? 1 : -2, sizes))
        outputs.push_back(g.coin() ? part : g.used(part));
    return g.finish(outputs);
}

}  // namespace

Rule function_after_split() {
    return {.name = "function_after_split",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (split and element-wise commute)",
            .equation = "Split(f(x)) ⇒ f(x₁), …, f(xₙ), where x₁, …, xₙ = Split(x)",
            .guards = "f is an element-wise function of one input; nothing else reads f(x)",
            .apply = apply_function_after_split,
            .instance = function_after_split_instance};
}

}  // namespace viridian::rewrite
