// Joins two convolutions of which one is 1×1: Conv(Conv(x, w, b), v, c) ⇒ Conv(x, v∘w, v·b + c). It follows
// from TASO's statement that convolution is linear.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

// The weights of `second` after `first`, as a product over the channels between: v [M, C] · w [C, …].
ValueId composed_weights(Editor& editor, const Convolution& first, const Convolution& second) {
    const bool pointwise_last = second.is_pointwise();
    const Dims flat_v = {second.weights[0], second.weights[1]};
    if (pointwise_last) {
        const ValueId v = editor.add(op::Reshape, {second.w, editor.vector_of(flat_v)});
        const ValueId w = editor.add(op::Reshape, {first.w, editor.vector_of({first.weights[0], -1})});
        Dims dims = first.weights;
        dims[0] = second.weights[0];
        return editor.add(op::Reshape, {editor.add(op::MatMul, {v, w}), editor.vector_of(dims)});
    }
    // v [M, C, k…] is transposed to [M, k…, C], multiplied by w [C, D], and transposed back.
    Dims last, back = {0, static_cast<std::int64_t>(second.weights.size()) - 1};
    last.push_back(0);
    for (std::size_t i = 2; i < second.weights.size(); ++i) {
        last.push_back(static_cast<std::int64_t>(i));
        back.push_back(static_cast<std::int64_t>(i) - 1);
    }
    last.push_back(1);
    const ValueId v = editor.add(op::Transpose, {second.w}, {{"perm", last}});
    const ValueId w =
        editor.add(op::Reshape, {first.w, editor.vector_of({first.weights[0], first.weights[1]})});
    return editor.add(op::Transpose, {editor.add(op::MatMul, {v, w})}, {{"perm", back}});
}

bool apply_compose_convolutions(Editor& editor, NodeId at) {
    const auto second = Convolution::of(editor, at);
    if (!second || second->group != 1) return false;
    const auto first = Convolution::read_once(editor, second->x);
    if (!first || first->group != 1) return false;
    const bool last = second->is_pointwise();
    if (!last && (!first->is_pointwise() || (second->is_padded() && first->bias != ValueId::none)))
        return false;
    std::vector<ValueId> inputs = {first->x, composed_weights(editor, *first, *second)};
    ValueId bias = second->bias;
    if (first->bias != ValueId::none) {  // every weight of the window multiplies the bias
        Dims axes;
        for (std::size_t i = 2; i < second->weights.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
        const ValueId sums =
            editor.add(op::ReduceSum, {second->w, editor.vector_of(axes)}, {{"keepdims", std::int64_t{0}}});
        const ValueId through = editor.add(op::MatMul, {sums, first->bias});
        bias = bias == ValueId::none ? through : editor.add(op::Add, {bias, through});
    }
    if (bias != ValueId::none) inputs.push_back(bias);
    editor.replace(second->y, editor.add(op::Conv, inputs, (last ? *first : *second).attributes(1)));
    return true;
}

Graph compose_convolutions_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t a = g.extent(1, 4), b = g.extent(1, 5), c = g.extent(1, 3);
    const bool pointwise_last = g.coin();
    const ValueId x = g.input({g.extent(1, 2), a, g.extent(4, 6), g.extent(4, 5)});
    const bool padded = g.coin();
    const auto conv = [&](ValueId from, std::int64_t out, std::int64_t in, bool pointwise, bool bias) {
        std::vector<ValueId> inputs = {from,
                                       g.constant(pointwise ? Dims{out, in, 1, 1} : Dims{out, in, 3, 2})};
        if (bias) inputs.push_back(g.constant({out}));
        Attributes attributes;
        if (!pointwise) {
            attributes["strides"] = Dims{g.extent(1, 2), 1};
            if (padded) attributes["pads"] = Dims{1, 0, 1, 1};
        }
        return g.add(op::Conv, inputs, attributes);
    };
    const ValueId y = conv(x, b, a, !pointwise_last, g.coin() && (pointwise_last || !padded));
    return g.finish({conv(y, c, b, pointwise_last, g.coin())});
}

}  // namespace

Rule compose_convolutions() {
    return {.name = "compose_convolutions",
            .kind = Kind::alternative,
            .source = "TASO (convolution is linear; here: associative)",
            .equation = "Conv(Conv(x, w, b), v, c) ⇒ Conv(x, v∘w, v·b + c)",
            .guards =
                "one of them 1×1 with stride 1 and no padding; where that is the first, it has no bias or "
                "the second no padding; no groups, constant weights; nothing else reads the inner one",
            .polynomial = true,
            .apply = apply_compose_convolutions,
            .instance = compose_convolutions_instance};
}

}  // namespace viridian::rewrite
