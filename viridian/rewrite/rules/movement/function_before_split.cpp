// Applies a function before a split instead of to every part: f(x₁), …, f(xₙ) ⇒ Split(f(x)), where x₁, …, xₙ
// = Split(x). TASO and Tensat state that both commute; function_after_split is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_function_before_split(Editor& editor, NodeId at) {
    const auto parts = Parts::of(editor, editor.node(at));
    if (!parts) return false;
    std::vector<const Node*> readers;
    for (const ValueId part : parts->values) {
        const Node* f = part == ValueId::none ? nullptr : only_reader(editor, part);
        if (f == nullptr || !is_function(*f) || (!readers.empty() && !same_operator(*f, *readers[0])))
            return false;
        readers.push_back(f);
    }
    Node all = *readers[0];
    all.inputs = {parts->whole};
    all.name.clear();
    const std::vector<ValueId> fresh =
        add_split(editor, editor.add_node(std::move(all), 1)[0], parts->axis, parts->sizes);
    for (std::size_t i = 0; i < fresh.size(); ++i) editor.replace(readers[i]->outputs[0], fresh[i]);
    return true;
}

Graph function_before_split_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims sizes = {g.extent(1, 3), g.extent(1, 4), g.extent(1, 5)};
    const ValueId x = g.input({g.extent(1, 3), sizes[0] + sizes[1] + sizes[2], g.extent(1, 4)});
    const char* op = g.pick<const char*>({"Relu", "Tanh", "Neg"});
    std::vector<ValueId> outputs;
    for (const ValueId part : g.split(x, g.coin() ? 1 : -2, sizes)) outputs.push_back(g.add(op, {part}));
    return g.finish(outputs);
}

}  // namespace

Rule function_before_split() {
    return {.name = "function_before_split",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (split and element-wise commute)",
            .equation = "f(x₁), …, f(xₙ) ⇒ Split(f(x)), where x₁, …, xₙ = Split(x)",
            .guards =
                "f is an element-wise function of one input, the same of every part; nothing else reads the "
                "parts",
            .apply = apply_function_before_split,
            .instance = function_before_split_instance};
}

}  // namespace viridian::rewrite
