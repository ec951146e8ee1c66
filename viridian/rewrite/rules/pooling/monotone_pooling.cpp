#include "viridian/rewrite/rules/pooling/monotone_pooling.hpp"

#include "viridian/graph/operators/row.hpp"
#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

bool never_decreases(const Node& node) {
    const graph::OperatorRow* row = find_operator(node);
    return row != nullptr && row->non_decreasing && node.get("alpha", 0.0) >= 0;
}

bool is_plain_max_pool(const Node& node) {
    if (node.op != op::MaxPool || node.outputs.size() != 1 || node.integer("ceil_mode", 0) != 0 ||
        node.get("auto_pad", std::string("NOTSET")) != "NOTSET")
        return false;
    const Dims kernel = node.get("kernel_shape", Dims());
    const Dims pads = node.get("pads", Dims());
    for (std::size_t i = 0; i < pads.size(); ++i)
        if (pads[i] >= kernel[i % kernel.size()]) return false;
    return true;
}

Graph max_pool_instance(Random& random, ElementType element, bool pool_last) {
    RandomGraph g(random, element);
    const ValueId x = g.input({g.extent(1, 2), g.extent(1, 3), g.extent(4, 7), g.extent(4, 6)});
    const char* op = g.pick<const char*>({"Relu", "Sigmoid", "Tanh", "LeakyRelu"});
    const auto pool = [&](ValueId y) {
        return g.add(op::MaxPool, {y},
                     {{"kernel_shape", Dims{3, 2}}, {"pads", Dims{1, 1, 0, 0}}, {"strides", Dims{2, 1}}});
    };
    return g.finish({pool_last ? pool(g.add(op, {x})) : g.add(op, {pool(x)})});
}

}  // namespace viridian::rewrite
