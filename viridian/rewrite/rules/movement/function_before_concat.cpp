// Applies a function before parts are concatenated: f([x₁, …, xₙ]) ⇒ [f(x₁), …, f(xₙ)]. TASO and Tensat have
// it; concat_before_function is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_function_before_concat(Editor& editor, NodeId at) {
    const Node& f = editor.node(at);
    const Node* joined = is_function(f) ? joined_input(editor, f) : nullptr;
    if (joined == nullptr) return false;
    std::vector<ValueId> parts;
    for (const ValueId input : joined->inputs) parts.push_back(editor.like(f, {input}));
    editor.replace(f.outputs[0], editor.add(op::Concat, parts, joined->attributes));
    return true;
}

Graph function_before_concat_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(1, 4)};
    std::vector<ValueId> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(g.input({dims[0], g.extent(1, 5), dims[1]}));
    const ValueId y = g.add(op::Concat, parts, {{"axis", std::int64_t{g.coin() ? 1 : -2}}});
    return g.finish({g.add(g.pick<const char*>({"Relu", "Neg", "Sigmoid"}), {y})});
}

}  // namespace

Rule function_before_concat() {
    return {.name = "function_before_concat",
            .kind = Kind::alternative,
            .source = "TASO; Tensat",
            .equation = "f([x₁, …, xₙ]) ⇒ [f(x₁), …, f(xₙ)]",
            .guards = "f is an element-wise function of one input; nothing else reads the concatenation",
            .apply = apply_function_before_concat,
            .instance = function_before_concat_instance};
}

}  // namespace viridian::rewrite
