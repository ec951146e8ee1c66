// Concatenates before a function is applied: [f(x₁), …, f(xₙ)] ⇒ f([x₁, …, xₙ]). TASO and Tensat have it;
// function_before_concat is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_concat_before_function(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != op::Concat || joined.inputs.size() < 2) return false;
    const Node* f = editor.graph().producer(joined.inputs[0]);
    if (f == nullptr || !is_function(*f)) return false;
    std::vector<ValueId> inputs;
    for (const ValueId input : joined.inputs) {
        const Node* other = editor.graph().producer(input);
        const bool same = other != nullptr && same_operator(*other, *f) && editor.used_once(input);
        if (!same) return false;
        inputs.push_back(other->inputs[0]);
    }
    editor.replace(joined.outputs[0], editor.like(*f, {editor.add(op::Concat, inputs, joined.attributes)}));
    return true;
}

Graph concat_before_function_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(1, 4)};
    const char* op = g.pick<const char*>({"Relu", "Neg", "Sigmoid"});
    std::vector<ValueId> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(g.add(op, {g.input({dims[0], g.extent(1, 5)})}));
    return g.finish({g.add(op::Concat, parts, {{"axis", std::int64_t{1}}})});
}

}  // namespace

Rule concat_before_function() {
    return {.name = "concat_before_function",
            .kind = Kind::alternative,
            .source = "TASO; Tensat",
            .equation = "[f(x₁), …, f(xₙ)] ⇒ f([x₁, …, xₙ])",
            .guards = "f is an element-wise function of one input; nothing else reads what lies between",
            .apply = apply_concat_before_function,
            .instance = concat_before_function_instance};
}

}  // namespace viridian::rewrite
