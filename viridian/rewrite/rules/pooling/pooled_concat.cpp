#include "viridian/rewrite/rules/pooling/pooled_concat.hpp"

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"

namespace viridian::rewrite {

bool is_pooling(const Node& node) {
    return node.op.domain().empty() && node.outputs.size() == 1 &&
           (node.op == op::MaxPool || node.op == op::AveragePool || node.op == op::GlobalAveragePool ||
            node.op == op::GlobalMaxPool);
}

bool joins_images_or_channels(const Editor& editor, const Node& joined) {
    const auto axis = axis_of(editor, joined);
    return axis && *axis <= 1;
}

Graph pooled_concat_instance(Random& random, ElementType element, bool pools_first) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 2), 0, g.extent(4, 6), g.extent(4, 7)};
    const char* op = g.pick<const char*>({"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"});
    Attributes attributes;
    if (op[0] != 'G')
        attributes = {{"kernel_shape", Dims{3, 2}}, {"pads", Dims{1, 0, 1, 1}}, {"strides", Dims{2, 1}}};
    std::vector<ValueId> parts;
    for (int i = 0; i < 2; ++i) {
        const ValueId x = g.input({dims[0], g.extent(1, 4), dims[2], dims[3]});
        parts.push_back(pools_first ? g.add(op, {x}, attributes) : x);
    }
    const ValueId joined = g.add(op::Concat, parts, {{"axis", std::int64_t{g.coin() ? 1 : -3}}});
    return g.finish({pools_first ? joined : g.add(op, {joined}, attributes)});
}

}  // namespace viridian::rewrite
