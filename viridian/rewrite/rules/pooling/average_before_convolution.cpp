// Averages before a pointwise convolution: A(Conv(x, w, b)) ⇒ Conv(A(x), w, b). TASO changes the order of
// both; average_after_convolution is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/pooling/average_pooling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_average_before_convolution(Editor& editor, NodeId at) {
    const Node& pool = editor.node(at);
    if (!is_average(pool)) return false;
    const auto conv = Convolution::read_once(editor, pool.inputs[0]);
    if (!conv || !conv->is_pointwise() || (conv->bias != ValueId::none && !keeps_constants(pool)))
        return false;
    std::vector<ValueId> inputs = {editor.add(pool.op, {conv->x}, pool.attributes), conv->w};
    if (conv->bias != ValueId::none) inputs.push_back(conv->bias);
    editor.replace(pool.outputs[0], editor.add(op::Conv, inputs, conv->attributes(1)));
    return true;
}

Graph average_before_convolution_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t channels = g.extent(1, 4);
    const ValueId x = g.input({g.extent(1, 2), channels, g.extent(3, 5), g.extent(4, 6)});
    const bool counting = g.coin();
    return g.finish({random_average(g, random_pointwise_convolution(g, x, channels, !counting), counting)});
}

}  // namespace

Rule average_before_convolution() {
    return {
        .name = "average_before_convolution",
        .kind = Kind::alternative,
        .source = "TASO (average pooling as a convolution, and their order)",
        .equation = "A(Conv(x, w, b)) ⇒ Conv(A(x), w, b)",
        .guards =
            "A ∈ {AveragePool, GlobalAveragePool}; a 1×1 convolution with stride 1, no padding or groups, "
            "constant weights, without bias where A counts its padding; nothing else reads the convolution",
        .apply = apply_average_before_convolution,
        .instance = average_before_convolution_instance};
}

}  // namespace viridian::rewrite
