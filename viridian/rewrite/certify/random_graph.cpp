#include "viridian/rewrite/certify/random_graph.hpp"

#include <numeric>

namespace viridian::rewrite {

template <class Draw>
ValueId RandomGraph::tensor(const Dims& dims, Draw draw) {
    Tensor made(element_, dims);
    if (element_ == ElementType::f64)
        for (double& value : made.mutable_values<double>()) value = draw();
    else if (element_ == ElementType::i64)
        for (std::int64_t& value : made.mutable_values<std::int64_t>())
            value = static_cast<std::int64_t>(draw());
    else if (element_ == ElementType::f16)
        for (std::uint16_t& value : made.mutable_values<std::uint16_t>())
            value = graph::to_half(static_cast<float>(draw()));
    else
        for (float& value : made.mutable_values<float>()) value = static_cast<float>(draw());
    return graph.add_constant("c", std::move(made));
}

Dims RandomGraph::permutation(std::int64_t rank) {
    Dims order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    return order;
}

ValueId RandomGraph::input(const Dims& dims) {
    return graph.add_input("x", {element_, graph::shape_of(dims)});
}

ValueId RandomGraph::constant(const Dims& dims) {
    return tensor(dims, [&] {
        const std::int64_t magnitude = random_.between(1, 4);
        return static_cast<double>(coin() ? magnitude : -magnitude);
    });
}

ValueId RandomGraph::positive(const Dims& dims) {
    return tensor(dims, [&] { return static_cast<double>(random_.between(1, 5)); });
}

ValueId RandomGraph::filled(const Dims& dims, double value) {
    return tensor(dims, [&] { return value; });
}

ValueId RandomGraph::integers(const Dims& values) {
    return graph.add_constant("i", Tensor::i64({static_cast<std::int64_t>(values.size())}, values));
}

std::vector<ValueId> RandomGraph::split(ValueId x, std::int64_t axis, const Dims& sizes) {
    Node node;
    node.op = op::Split;
    node.inputs = {x, integers(sizes)};
    node.attributes["axis"] = axis;
    return graph.node(graph.add_node(node, sizes.size())).outputs;
}

}  // namespace viridian::rewrite
