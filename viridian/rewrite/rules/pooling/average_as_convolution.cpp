// Writes average pooling as a convolution: AveragePool(x; k) ⇒ Conv(x, 1/|k|; a group per channel). TASO has
// average pooling as a convolution.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/pooling/average_pooling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_average_as_convolution(Editor& editor, NodeId at) {
    const Node& pool = editor.node(at);
    const auto dims =
        pool.op == op::AveragePool && is_average(pool) ? editor.dims(pool.inputs[0]) : std::nullopt;
    if (!dims || (pool.integer("count_include_pad", 0) == 0 && !pads_nothing(pool)) ||
        pool.integer("ceil_mode", 0) != 0)
        return false;
    if ((*dims)[1] == 0) return false;  // a convolution has a group at least
    const Dims kernel = pool.get("kernel_shape", Dims());
    Dims weights = {(*dims)[1], 1};
    double window = 1;
    for (const std::int64_t k : kernel) {
        weights.push_back(k);
        window *= static_cast<double>(k);
    }
    const ValueId w =
        editor.add(op::Expand, {editor.scalar_like(pool.inputs[0], 1 / window), editor.vector_of(weights)});
    Attributes attributes = {{"group", (*dims)[1]}, {"kernel_shape", kernel}};
    for (const char* key : {"strides", "pads", "dilations"})
        if (pool.has(key)) attributes[key] = pool.attributes.find(key)->second;
    editor.replace(pool.outputs[0], editor.add(op::Conv, {pool.inputs[0], w}, attributes));
    return true;
}

Graph average_as_convolution_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const ValueId x = g.input({g.extent(1, 2), g.extent(1, 4), g.extent(3, 6), g.extent(4, 6)});
    Attributes attributes = {{"kernel_shape", Dims{3, 2}}, {"strides", Dims{g.extent(1, 2), 1}}};
    if (g.coin()) {
        attributes["pads"] = Dims{1, 0, 1, 1};
        attributes["count_include_pad"] = std::int64_t{1};
    }
    return g.finish({g.add(op::AveragePool, {x}, attributes)});
}

}  // namespace

Rule average_as_convolution() {
    return {.name = "average_as_convolution",
            .kind = Kind::alternative,
            .source = "TASO (average pooling as a convolution)",
            .equation = "AveragePool(x; k) ⇒ Conv(x, 1/|k|; a group per channel)",
            .guards = "no padding, or padding that is counted; sizes rounded down",
            .apply = apply_average_as_convolution,
            .instance = average_as_convolution_instance};
}

}  // namespace viridian::rewrite
