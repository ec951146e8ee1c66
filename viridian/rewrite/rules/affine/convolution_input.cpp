#include "viridian/rewrite/rules/affine/convolution_input.hpp"

#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

std::optional<ConvolutionInput> ConvolutionInput::of(const Editor& editor, const Convolution& conv,
                                                     graph::KnownOperator op) {
    const Node* node = editor.producer(conv.x, op);
    if (node == nullptr || !editor.used_once(conv.x) || conv.group != 1) return std::nullopt;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const ValueId operand = node->inputs[side];
        const auto dims = editor.dims(operand);
        if (!dims || !editor.fixed(operand) || dims->size() > conv.weights.size() ||
            !editor.same_type(node->inputs[1 - side], conv.x))
            continue;
        bool along_channels = true;
        for (std::size_t i = 0; i < dims->size(); ++i)
            if ((*dims)[i] != 1 && i + conv.weights.size() - dims->size() != 1) along_channels = false;
        if (along_channels) return ConvolutionInput{node->inputs[1 - side], operand};
    }
    return std::nullopt;
}

ValueId ConvolutionInput::along_weights(Editor& editor, const Convolution& conv) const {
    Dims spread(conv.weights.size(), 1);
    spread[1] = editor.graph().value(operand).type.dims().empty() ? 1 : -1;
    return editor.add(op::Reshape, {operand, editor.vector_of(spread)});
}

Graph convolution_input_instance(Random& random, ElementType element, const graph::Operator& op,
                                 bool padded) {
    RandomGraph g(random, element);
    const std::int64_t channels = g.extent(1, 4);
    const std::int64_t m = g.extent(1, 4);
    const ValueId x = g.input({g.extent(1, 2), channels, g.extent(4, 6), g.extent(3, 5)});
    const ValueId operand = g.constant(g.extent(0, 2) == 0 ? Dims{}
                                       : g.coin()          ? Dims{channels, 1, 1}
                                                           : Dims{1, channels, 1, 1});
    std::vector<ValueId> inputs = {g.either_way(op, x, operand), g.constant({m, channels, 3, 2})};
    if (g.coin()) inputs.push_back(g.constant({m}));
    return g.finish({g.add(op::Conv, inputs, {{"pads", padded ? Dims{1, 0, 1, 1} : Dims{0, 0, 0, 0}}})});
}

}  // namespace viridian::rewrite
