// Convolves both terms of a sum: Conv(x + y, w, b) ⇒ Conv(x, w, b) + Conv(y, w). TASO states that convolution
// is linear in its input; add_before_convolution is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_add_after_convolution(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    const Node* sum = conv ? editor.producer(conv->x, op::Add) : nullptr;
    if (sum == nullptr || !editor.used_once(conv->x) || sum->inputs[0] == sum->inputs[1]) return false;
    for (const ValueId term : sum->inputs)
        if (!editor.same_type(term, conv->x) || !keeps_range(editor, term, Role::term)) return false;
    std::vector<ValueId> inputs = {sum->inputs[0], conv->w};
    if (conv->bias != ValueId::none) inputs.push_back(conv->bias);
    const Attributes attributes = conv->attributes(conv->group);
    const ValueId first = editor.add(op::Conv, inputs, attributes);
    const ValueId second = editor.add(op::Conv, {sum->inputs[1], conv->w}, attributes);
    editor.replace(conv->y, editor.add(op::Add, {first, second}));
    return true;
}

Graph add_after_convolution_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t group = g.extent(1, 2), m = g.extent(1, 3) * group;
    const Dims dims = {g.extent(1, 2), g.extent(1, 3) * group, g.extent(3, 5), g.extent(4, 6)};
    const ValueId sum = g.either_way(op::Add, g.input(dims), g.coin() ? g.input(dims) : g.constant(dims));
    std::vector<ValueId> inputs = {sum, g.constant({m, dims[1] / group, 2, 3})};
    if (g.coin()) inputs.push_back(g.constant({m}));
    return g.finish({g.add(op::Conv, inputs, {{"pads", Dims{0, 1, 1, 0}}, {"group", group}})});
}

}  // namespace

Rule add_after_convolution() {
    return {.name = "add_after_convolution",
            .kind = Kind::alternative,
            .source = "TASO (convolution is linear in its input; add_before_convolution, backwards)",
            .equation = "Conv(x + y, w, b) ⇒ Conv(x, w, b) + Conv(y, w)",
            .guards =
                "x and y of equal types, no constant or a moderate one (merge_scales), constant weights; "
                "nothing else reads x + y",
            .polynomial = true,
            .apply = apply_add_after_convolution,
            .instance = add_after_convolution_instance};
}

}  // namespace viridian::rewrite
