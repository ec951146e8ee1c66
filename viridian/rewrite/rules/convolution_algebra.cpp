// A convolution is linear in its weights and in its input, and one after another is one.
#include <algorithm>

#include "viridian/rewrite/moderate.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

std::optional<Convolution> convolution(const Editor& editor, ValueId value) {
    if (editor.producer(value, "Conv") == nullptr || !editor.used_once(value)) return std::nullopt;
    return Convolution::of(editor, editor.producer_id(value));
}

struct Two {
    Convolution a, b;
};
std::optional<Two> summed(const Editor& editor, const Node& sum) {
    if (sum.op != "Add" || !sum.domain.empty() || sum.inputs[0] == sum.inputs[1]) return std::nullopt;
    const auto a = convolution(editor, sum.inputs[0]);
    const auto b = convolution(editor, sum.inputs[1]);
    if (!a || !b || !a->same_windows(*b) || a->group != b->group || a->weights != b->weights)
        return std::nullopt;
    return Two{*a, *b};
}

// Both biases, or the one there is.
void add_biases(Editor& editor, const Two& two, std::vector<ValueId>& inputs) {
    if (two.a.bias != ValueId::none && two.b.bias != ValueId::none)
        inputs.push_back(editor.add("Add", {two.a.bias, two.b.bias}));
    else if (two.a.bias != ValueId::none || two.b.bias != ValueId::none)
        inputs.push_back(two.a.bias != ValueId::none ? two.a.bias : two.b.bias);
}

// Conv(x, v, b) + Conv(x, w, c) ⇒ Conv(x, v + w, b + c)
bool same_input(Editor& editor, NodeId at) {
    const auto two = summed(editor, editor.node(at));
    if (!two || two->a.x != two->b.x) return false;
    std::vector<ValueId> inputs = {two->a.x, editor.add("Add", {two->a.w, two->b.w})};
    add_biases(editor, *two, inputs);
    editor.replace(editor.node(at).outputs[0], editor.add("Conv", inputs, two->a.attributes(two->a.group)));
    return true;
}

// Conv(x, w, b) + Conv(y, w, c) ⇒ Conv(x + y, w, b + c)
bool same_weights(Editor& editor, NodeId at) {
    const auto two = summed(editor, editor.node(at));
    if (!two || two->a.w != two->b.w || two->a.x == two->b.x || !editor.same_type(two->a.x, two->b.x))
        return false;
    std::vector<ValueId> inputs = {editor.add("Add", {two->a.x, two->b.x}), two->a.w};
    add_biases(editor, *two, inputs);
    editor.replace(editor.node(at).outputs[0], editor.add("Conv", inputs, two->a.attributes(two->a.group)));
    return true;
}

// Conv(x + y, w, b) ⇒ Conv(x, w, b) + Conv(y, w)
bool sum_apart(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    const Node* sum = conv ? editor.producer(conv->x, "Add") : nullptr;
    if (sum == nullptr || !editor.used_once(conv->x) || sum->inputs[0] == sum->inputs[1]) return false;
    for (const ValueId term : sum->inputs)
        if (!editor.same_type(term, conv->x) || !moderate_where_known(editor, term, "Add")) return false;
    std::vector<ValueId> inputs = {sum->inputs[0], conv->w};
    if (conv->bias != ValueId::none) inputs.push_back(conv->bias);
    const Attributes attributes = conv->attributes(conv->group);
    const ValueId first = editor.add("Conv", inputs, attributes);
    const ValueId second = editor.add("Conv", {sum->inputs[1], conv->w}, attributes);
    editor.replace(conv->y, editor.add("Add", {first, second}));
    return true;
}

// A window that is left where it is by a weight of one in its middle.
bool keeps_place(const Convolution& conv) {
    for (std::size_t i = 0; i < conv.spatial(); ++i) {
        const std::int64_t k = conv.kernel()[i];
        if (k % 2 == 0 || conv.strides[i] != 1 || conv.pads[i] != conv.dilations[i] * (k / 2) ||
            conv.pads[i + conv.spatial()] != conv.pads[i])
            return false;
    }
    return true;
}

// x + Conv(x, w, b) ⇒ Conv(x, w + δ, b)
bool identity_inside(Editor& editor, NodeId at) {
    const Node& sum = editor.node(at);
    if (sum.op != "Add" || !sum.domain.empty()) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const auto conv = convolution(editor, sum.inputs[side]);
        if (!conv || conv->x != sum.inputs[1 - side] || !keeps_place(*conv) ||
            !editor.same_type(conv->x, conv->y))
            continue;
        // Channel m reads its own: the one at m within its group.
        Tensor one(ElementType::f64, conv->weights);
        std::int64_t window = 1;
        for (const std::int64_t k : conv->kernel()) window *= k;
        const std::int64_t in = conv->weights[1];
        auto values = one.mutable_values<double>();
        for (std::int64_t m = 0; m < conv->weights[0]; ++m)
            values[static_cast<std::size_t>((m * in + m % in) * window + window / 2)] = 1;
        ValueId delta = editor.constant(std::move(one));
        if (editor.element(conv->w) != ElementType::f64)
            delta = editor.add("Cast", {delta}, {{"to", graph::onnx_code_of(editor.element(conv->w))}});
        std::vector<ValueId> inputs = {conv->x, editor.add("Add", {conv->w, delta})};
        if (conv->bias != ValueId::none) inputs.push_back(conv->bias);
        editor.replace(sum.outputs[0], editor.add("Conv", inputs, conv->attributes(conv->group)));
        return true;
    }
    return false;
}

bool is_pointwise(const Convolution& conv) {
    const auto all = [](const Dims& dims, std::int64_t value) {
        return std::all_of(dims.begin(), dims.end(), [&](std::int64_t d) { return d == value; });
    };
    return conv.group == 1 && all(conv.kernel(), 1) && all(conv.strides, 1) && all(conv.pads, 0);
}

// The weights of one map after another, as a product over the channels between: v [M, C] · w [C, …].
ValueId composed(Editor& editor, const Convolution& first, const Convolution& second) {
    const bool pointwise_last = is_pointwise(second);
    const Dims flat_v = {second.weights[0], second.weights[1]};
    if (pointwise_last) {
        const ValueId v = editor.add("Reshape", {second.w, editor.vector_of(flat_v)});
        const ValueId w = editor.add("Reshape", {first.w, editor.vector_of({first.weights[0], -1})});
        Dims dims = first.weights;
        dims[0] = second.weights[0];
        return editor.add("Reshape", {editor.add("MatMul", {v, w}), editor.vector_of(dims)});
    }
    // v [M, C, k…] with w [C, D]: the channels last, times w, and back.
    Dims last, back = {0, static_cast<std::int64_t>(second.weights.size()) - 1};
    last.push_back(0);
    for (std::size_t i = 2; i < second.weights.size(); ++i) {
        last.push_back(static_cast<std::int64_t>(i));
        back.push_back(static_cast<std::int64_t>(i) - 1);
    }
    last.push_back(1);
    const ValueId v = editor.add("Transpose", {second.w}, {{"perm", last}});
    const ValueId w =
        editor.add("Reshape", {first.w, editor.vector_of({first.weights[0], first.weights[1]})});
    return editor.add("Transpose", {editor.add("MatMul", {v, w})}, {{"perm", back}});
}

// Conv(Conv(x, w, b), v, c) ⇒ Conv(x, v∘w, v·b + c)
bool compose(Editor& editor, NodeId at) {
    const auto second = Convolution::of(editor, at);
    if (!second || second->group != 1) return false;
    const auto first = convolution(editor, second->x);
    if (!first || first->group != 1) return false;
    const bool last = is_pointwise(*second);
    const bool padded = std::any_of(second->pads.begin(), second->pads.end(), [](auto p) { return p != 0; });
    if (!last && (!is_pointwise(*first) || (padded && first->bias != ValueId::none))) return false;
    std::vector<ValueId> inputs = {first->x, composed(editor, *first, *second)};
    ValueId bias = second->bias;
    if (first->bias != ValueId::none) {  // the bias goes through every weight of a window
        Dims axes;
        for (std::size_t i = 2; i < second->weights.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
        const ValueId sums =
            editor.add("ReduceSum", {second->w, editor.vector_of(axes)}, {{"keepdims", std::int64_t{0}}});
        const ValueId through = editor.add("MatMul", {sums, first->bias});
        bias = bias == ValueId::none ? through : editor.add("Add", {bias, through});
    }
    if (bias != ValueId::none) inputs.push_back(bias);
    editor.replace(second->y, editor.add("Conv", inputs, (last ? *first : *second).attributes(1)));
    return true;
}

Graph sum_instance(Random& random, ElementType element, bool same_x) {
    Sketch s(random, element);
    const std::int64_t group = s.extent(1, 2);
    const Dims dims = {s.extent(1, 2), s.extent(1, 3) * group, s.extent(3, 5), s.extent(4, 6)};
    const std::int64_t m = s.extent(1, 3) * group;
    const ValueId x = s.input(dims);
    const ValueId w = s.constant({m, dims[1] / group, 2, 3});
    const Attributes attributes = {{"pads", Dims{0, 1, 1, 0}}, {"group", group}};
    const auto conv = [&](ValueId from, ValueId weights) {
        std::vector<ValueId> inputs = {from, weights};
        if (s.coin()) inputs.push_back(s.constant({m}));
        return s.add("Conv", inputs, attributes);
    };
    const ValueId a = conv(x, w);
    const ValueId b = same_x ? conv(x, s.constant({m, dims[1] / group, 2, 3})) : conv(s.input(dims), w);
    return s.finish({s.either_way("Add", a, b)});
}

Graph apart_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t group = s.extent(1, 2), m = s.extent(1, 3) * group;
    const Dims dims = {s.extent(1, 2), s.extent(1, 3) * group, s.extent(3, 5), s.extent(4, 6)};
    const ValueId sum = s.either_way("Add", s.input(dims), s.coin() ? s.input(dims) : s.constant(dims));
    std::vector<ValueId> inputs = {sum, s.constant({m, dims[1] / group, 2, 3})};
    if (s.coin()) inputs.push_back(s.constant({m}));
    return s.finish({s.add("Conv", inputs, {{"pads", Dims{0, 1, 1, 0}}, {"group", group}})});
}

Graph identity_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t group = s.extent(1, 3), channels = group * s.extent(1, 3), d = s.extent(1, 2);
    const ValueId x = s.add("Neg", {s.input({s.extent(1, 2), channels, s.extent(3, 6), s.extent(3, 5)})});
    std::vector<ValueId> inputs = {x, s.constant({channels, channels / group, 3, 1})};
    if (s.coin()) inputs.push_back(s.constant({channels}));
    const ValueId y =
        s.add("Conv", inputs, {{"group", group}, {"pads", Dims{d, 0, d, 0}}, {"dilations", Dims{d, 1}}});
    return s.finish({s.either_way("Add", x, y)});
}

Graph chain_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t a = s.extent(1, 4), b = s.extent(1, 5), c = s.extent(1, 3);
    const bool pointwise_last = s.coin();
    const ValueId x = s.input({s.extent(1, 2), a, s.extent(4, 6), s.extent(4, 5)});
    const bool padded = s.coin();
    const auto conv = [&](ValueId from, std::int64_t out, std::int64_t in, bool pointwise, bool bias) {
        std::vector<ValueId> inputs = {from,
                                       s.constant(pointwise ? Dims{out, in, 1, 1} : Dims{out, in, 3, 2})};
        if (bias) inputs.push_back(s.constant({out}));
        Attributes attributes;
        if (!pointwise) {
            attributes["strides"] = Dims{s.extent(1, 2), 1};
            if (padded) attributes["pads"] = Dims{1, 0, 1, 1};
        }
        return s.add("Conv", inputs, attributes);
    };
    const ValueId y = conv(x, b, a, !pointwise_last, s.coin() && (pointwise_last || !padded));
    return s.finish({conv(y, c, b, pointwise_last, s.coin())});
}

}  // namespace

Rule factor_convolutions() {
    return {.name = "factor_convolutions",
            .source = "TASO (convolution is linear in its weights); RepVGG (Ding et al. 2021)",
            .equation = "Conv(x, v, b) + Conv(x, w, c) ⇒ Conv(x, v + w, b + c)",
            .guards = "same windows and groups, constant weights; nothing else reads either",
            .polynomial = true,
            .apply = same_input,
            .instance = [](Random& r, ElementType e) { return sum_instance(r, e, true); }};
}

Rule add_before_convolution() {
    return {
        .name = "add_before_convolution",
        .kind = Kind::alternative,
        .source = "TASO (convolution is linear in its input)",
        .equation = "Conv(x, w, b) + Conv(y, w, c) ⇒ Conv(x + y, w, b + c)",
        .guards = "the same weights, windows and groups, x and y of equal types; nothing else reads either",
        .polynomial = true,
        .apply = same_weights,
        .instance = [](Random& r, ElementType e) { return sum_instance(r, e, false); }};
}

Rule add_after_convolution() {
    return {.name = "add_after_convolution",
            .kind = Kind::alternative,
            .source = "TASO (convolution is linear in its input; add_before_convolution, backwards)",
            .equation = "Conv(x + y, w, b) ⇒ Conv(x, w, b) + Conv(y, w)",
            .guards =
                "x and y of equal types, no constant or a moderate one (merge_scales), constant weights; "
                "nothing else reads x + y",
            .polynomial = true,
            .apply = sum_apart,
            .instance = apart_instance};
}

Rule fold_identity() {
    return {.name = "fold_identity",
            .source = "RepVGG (Ding et al. 2021); MetaFlow (resnet merge)",
            .equation = "x + Conv(x, w, b) ⇒ Conv(x, w + δ, b)",
            .guards =
                "stride 1, odd windows padded to keep their place, constant weights; nothing else reads the "
                "convolution",
            .polynomial = true,
            .apply = identity_inside,
            .instance = identity_instance};
}

Rule compose_convolutions() {
    return {.name = "compose_convolutions",
            .kind = Kind::alternative,
            .source = "TASO (convolution is linear; here: associative)",
            .equation = "Conv(Conv(x, w, b), v, c) ⇒ Conv(x, v∘w, v·b + c)",
            .guards =
                "one of them 1×1 with stride 1 and no padding; where that is the first, it has no bias or "
                "the second no padding; no groups, constant weights; nothing else reads the inner one",
            .polynomial = true,
            .apply = compose,
            .instance = chain_instance};
}

}  // namespace viridian::rewrite
