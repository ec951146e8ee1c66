// Averages behind a pointwise convolution: Conv(A(x), w, b) ⇒ A(Conv(x, w, b)), or A(Conv(x, w)) + b if A
// counts its padding. TASO changes the order of both; average_before_convolution is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/pooling/average_pooling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_average_after_convolution(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    if (!conv || !conv->is_pointwise() || !editor.used_once(conv->x)) return false;
    const Node* pool = editor.graph().producer(conv->x);
    if (pool == nullptr || !is_average(*pool)) return false;
    const bool inside = keeps_constants(*pool);
    std::vector<ValueId> inputs = {pool->inputs[0], conv->w};
    if (conv->bias != ValueId::none && inside) inputs.push_back(conv->bias);
    ValueId y = editor.add(pool->op, {editor.add(op::Conv, inputs, conv->attributes(1))}, pool->attributes);
    if (conv->bias != ValueId::none && !inside) {
        Dims spread(conv->weights.size() - 1, 1);
        spread[0] = conv->weights[0];
        y = editor.add(op::Add, {y, editor.add(op::Reshape, {conv->bias, editor.vector_of(spread)})});
    }
    editor.replace(conv->y, y);
    return true;
}

Graph average_after_convolution_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t channels = g.extent(1, 4);
    const ValueId x = g.input({g.extent(1, 2), channels, g.extent(3, 5), g.extent(4, 6)});
    return g.finish({random_pointwise_convolution(g, random_average(g, x, g.coin()), channels, g.coin())});
}

}  // namespace

Rule average_after_convolution() {
    return {
        .name = "average_after_convolution",
        .kind = Kind::alternative,
        .source = "TASO (average pooling as a convolution, and their order)",
        .equation = "Conv(A(x), w, b) ⇒ A(Conv(x, w, b)), or A(Conv(x, w)) + b where A counts its padding",
        .guards =
            "A ∈ {AveragePool, GlobalAveragePool}; a 1×1 convolution with stride 1, no padding or groups, "
            "constant weights; nothing else reads A(x)",
        .apply = apply_average_after_convolution,
        .instance = average_after_convolution_instance};
}

}  // namespace viridian::rewrite
