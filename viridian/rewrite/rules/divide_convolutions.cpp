// Groups taken apart, widened, and inputs that were concatenated: merging rules, backwards.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

constexpr std::int64_t most_groups = 8;  // more convolutions than that would not pay

// Conv(x, w; g) ⇒ [Conv(x₁, w₁), …, Conv(x_g, w_g)]
bool groups_apart(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    if (!conv || conv->group < 2 || conv->group > most_groups) return false;
    const auto equal = [&](std::int64_t each) { return Dims(static_cast<std::size_t>(conv->group), each); };
    const std::vector<ValueId> x = add_split(editor, conv->x, 1, equal(conv->weights[1]));
    const std::vector<ValueId> w = add_split(editor, conv->w, 0, equal(conv->weights[0] / conv->group));
    std::vector<ValueId> b;
    if (conv->bias != ValueId::none)
        b = add_split(editor, conv->bias, 0, equal(conv->weights[0] / conv->group));
    std::vector<ValueId> parts;
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::vector<ValueId> inputs = {x[i], w[i]};
        if (!b.empty()) inputs.push_back(b[i]);
        parts.push_back(editor.add("Conv", inputs, conv->attributes(1)));
    }
    editor.replace(conv->y, add_concat(editor, parts, 1));
    return true;
}

// Conv(x, w; g) ⇒ Conv(x, blocks of w on the diagonal; g/2), g even; to 1 where g is odd.
bool widen(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    if (!conv || conv->group < 2 || conv->group > 64) return false;
    const std::int64_t merged = conv->group % 2 == 0 ? 2 : conv->group;
    if (merged > most_groups) return false;
    const std::int64_t groups = conv->group / merged;
    const std::int64_t out = conv->weights[0] / conv->group, in = conv->weights[1];
    // [groups, merged, out, in, k…] times a mask [merged, 1, merged, 1] spread over the new input channels.
    Dims apart = {groups, merged, out, 1, in};
    Dims mask_dims = {1, merged, 1, merged, 1};
    Dims whole = {conv->weights[0], in * merged};
    for (const std::int64_t k : conv->kernel()) {
        apart.push_back(k);
        mask_dims.push_back(1);
        whole.push_back(k);
    }
    Tensor mask(ElementType::f64, mask_dims);
    for (std::int64_t i = 0; i < merged; ++i)
        mask.mutable_values<double>()[static_cast<std::size_t>(i * merged + i)] = 1;
    ValueId blocks = editor.constant(std::move(mask));
    if (editor.element(conv->w) != ElementType::f64)
        blocks = editor.add("Cast", {blocks}, {{"to", graph::onnx_code_of(editor.element(conv->w))}});
    const ValueId wide =
        editor.add("Mul", {editor.add("Reshape", {conv->w, editor.vector_of(apart)}), blocks});
    std::vector<ValueId> inputs = {conv->x, editor.add("Reshape", {wide, editor.vector_of(whole)})};
    if (conv->bias != ValueId::none) inputs.push_back(conv->bias);
    editor.replace(conv->y, editor.add("Conv", inputs, conv->attributes(groups)));
    return true;
}

// Conv([x, y], w, b) ⇒ Conv(x, w₁, b) + Conv(y, w₂)
bool inputs_apart(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    if (!conv || conv->group != 1 || !editor.used_once(conv->x)) return false;
    const Node* joined = editor.producer(conv->x, "Concat");
    const auto axis = joined != nullptr ? axis_of(editor, *joined) : std::nullopt;
    if (axis != 1 || joined->inputs.size() != 2) return false;
    Dims channels;
    for (const ValueId input : joined->inputs) {
        const auto dims = editor.dims(input);
        if (!dims) return false;
        channels.push_back((*dims)[1]);
    }
    const std::vector<ValueId> w = add_split(editor, conv->w, 1, channels);
    std::vector<ValueId> first = {joined->inputs[0], w[0]};
    if (conv->bias != ValueId::none) first.push_back(conv->bias);
    const ValueId a = editor.add("Conv", first, conv->attributes(1));
    editor.replace(
        conv->y, editor.add("Add", {a, editor.add("Conv", {joined->inputs[1], w[1]}, conv->attributes(1))}));
    return true;
}

Graph grouped_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t group = s.extent(2, 4), in = s.extent(1, 3), out = s.extent(1, 3);
    std::vector<ValueId> inputs = {s.input({s.extent(1, 2), in * group, s.extent(3, 5), s.extent(3, 6)}),
                                   s.constant({out * group, in, 3, 2})};
    if (s.coin()) inputs.push_back(s.constant({out * group}));
    return s.finish(
        {s.add("Conv", inputs, {{"group", group}, {"pads", Dims{1, 0, 0, 1}}, {"strides", Dims{1, 2}}})});
}

Graph concat_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t n = s.extent(1, 2), h = s.extent(3, 5), a = s.extent(1, 4), b = s.extent(1, 3);
    const ValueId x = s.input({n, a, h, 4});
    const ValueId joined =
        s.add("Concat", {x, s.input({n, b, h, 4})}, {{"axis", std::int64_t{s.coin() ? 1 : -3}}});
    const std::int64_t m = s.extent(1, 4);
    std::vector<ValueId> inputs = {joined, s.constant({m, a + b, 2, 3})};
    if (s.coin()) inputs.push_back(s.constant({m}));
    return s.finish({s.add("Conv", inputs, {{"pads", Dims{1, 0, 0, 1}}})});
}

}  // namespace

Rule split_groups() {
    return {.name = "split_groups",
            .kind = Kind::alternative,
            .source = "TASO (merge grouped convolutions, backwards)",
            .equation = "Conv(x, w, b; g) ⇒ [Conv(x₁, w₁, b₁), …, Conv(x_g, w_g, b_g)]",
            .guards = "2 to 8 groups, constant weights",
            .polynomial = true,
            .apply = groups_apart,
            .instance = grouped_instance};
}

Rule widen_groups() {
    return {.name = "widen_groups",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (merge_gconv)",
            .equation = "Conv(x, w; g) ⇒ Conv(x, w on the diagonal; g/2)",
            .guards = "constant weights; an odd g of at most 8 goes to 1 at once; g ≤ 64",
            .polynomial = true,
            .apply = widen,
            .instance = grouped_instance};
}

Rule split_convolution_input() {
    return {.name = "split_convolution_input",
            .kind = Kind::alternative,
            .source = "TASO; MetaFlow (add_convolutions, backwards)",
            .equation = "Conv([x, y], w, b) ⇒ Conv(x, w₁, b) + Conv(y, w₂)",
            .guards = "along the channels, no groups, constant weights; nothing else reads the concatenation",
            .polynomial = true,
            .apply = inputs_apart,
            .instance = concat_instance};
}

}  // namespace viridian::rewrite
