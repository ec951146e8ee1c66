#include "viridian/rewrite/rules/pooling/average_pooling.hpp"

#include <algorithm>

namespace viridian::rewrite {

bool is_average(const Node& node) {
    if (!node.op.domain().empty() || node.outputs.size() != 1) return false;
    return node.op == op::GlobalAveragePool ||
           (node.op == op::AveragePool && node.get("auto_pad", std::string("NOTSET")) == "NOTSET");
}

bool pads_nothing(const Node& pool) {
    const Dims pads = pool.get("pads", Dims());
    return std::all_of(pads.begin(), pads.end(), [](std::int64_t p) { return p == 0; });
}

bool keeps_constants(const Node& pool) {
    return pool.op == op::GlobalAveragePool || pool.integer("count_include_pad", 0) == 0 ||
           pads_nothing(pool);
}

ValueId random_average(RandomGraph& g, ValueId x, bool counting) {
    if (!counting && g.coin()) return g.add(op::GlobalAveragePool, {x});
    Attributes attributes = {{"kernel_shape", Dims{2, 3}}, {"strides", Dims{1, 2}}};
    if (g.coin()) attributes["pads"] = Dims{1, 0, 0, 1};
    attributes["count_include_pad"] = std::int64_t{counting ? 1 : 0};
    return g.add(op::AveragePool, {x}, attributes);
}

ValueId random_pointwise_convolution(RandomGraph& g, ValueId x, std::int64_t channels, bool bias) {
    const std::int64_t m = g.extent(1, 5);
    std::vector<ValueId> inputs = {x, g.constant({m, channels, 1, 1})};
    if (bias) inputs.push_back(g.constant({m}));
    return g.add(op::Conv, inputs);
}

}  // namespace viridian::rewrite
