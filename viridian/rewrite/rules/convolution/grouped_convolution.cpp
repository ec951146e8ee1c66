#include "viridian/rewrite/rules/convolution/grouped_convolution.hpp"

#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

Graph grouped_convolution_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t group = g.extent(2, 4), in = g.extent(1, 3), out = g.extent(1, 3);
    std::vector<ValueId> inputs = {g.input({g.extent(1, 2), in * group, g.extent(3, 5), g.extent(3, 6)}),
                                   g.constant({out * group, in, 3, 2})};
    if (g.coin()) inputs.push_back(g.constant({out * group}));
    return g.finish(
        {g.add(op::Conv, inputs, {{"group", group}, {"pads", Dims{1, 0, 0, 1}}, {"strides", Dims{1, 2}}})});
}

}  // namespace viridian::rewrite
