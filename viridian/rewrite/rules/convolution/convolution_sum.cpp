#include "viridian/rewrite/rules/convolution/convolution_sum.hpp"

#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

std::optional<ConvolutionSum> ConvolutionSum::of(const Editor& editor, const Node& sum) {
    if (sum.op != op::Add || sum.inputs[0] == sum.inputs[1]) return std::nullopt;
    const auto a = Convolution::read_once(editor, sum.inputs[0]);
    const auto b = Convolution::read_once(editor, sum.inputs[1]);
    if (!a || !b || !a->same_windows(*b) || a->group != b->group || a->weights != b->weights)
        return std::nullopt;
    return ConvolutionSum{*a, *b};
}

Graph convolution_sum_instance(Random& random, ElementType element, bool same_input) {
    RandomGraph g(random, element);
    const std::int64_t group = g.extent(1, 2);
    const Dims dims = {g.extent(1, 2), g.extent(1, 3) * group, g.extent(3, 5), g.extent(4, 6)};
    const std::int64_t m = g.extent(1, 3) * group;
    const ValueId x = g.input(dims);
    const ValueId w = g.constant({m, dims[1] / group, 2, 3});
    const Attributes attributes = {{"pads", Dims{0, 1, 1, 0}}, {"group", group}};
    const auto conv = [&](ValueId from, ValueId weights) {
        std::vector<ValueId> inputs = {from, weights};
        if (g.coin()) inputs.push_back(g.constant({m}));
        return g.add(op::Conv, inputs, attributes);
    };
    const ValueId a = conv(x, w);
    const ValueId b = same_input ? conv(x, g.constant({m, dims[1] / group, 2, 3})) : conv(g.input(dims), w);
    return g.finish({g.either_way(op::Add, a, b)});
}

}  // namespace viridian::rewrite
