// Splits change places with what every part goes through, and with the products that they divide.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

// f(x₁), …, f(xₙ) of every part ⇒ Split(f(x))
bool function_first(Editor& editor, NodeId at) {
    const auto parts = Parts::of(editor, editor.node(at));
    if (!parts) return false;
    std::vector<const Node*> readers;
    for (const ValueId part : parts->values) {
        const Node* f = part == ValueId::none ? nullptr : only_reader(editor, part);
        if (f == nullptr || !is_function(*f) ||
            (!readers.empty() && (f->op != readers[0]->op || f->domain != readers[0]->domain ||
                                  !same_attributes(f->attributes, readers[0]->attributes))))
            return false;
        readers.push_back(f);
    }
    Node all = *readers[0];
    all.inputs = {parts->whole};
    all.name.clear();
    const std::vector<ValueId> fresh =
        add_split(editor, editor.add_node(std::move(all), 1)[0], parts->axis, parts->sizes);
    for (std::size_t i = 0; i < fresh.size(); ++i) editor.replace(readers[i]->outputs[0], fresh[i]);
    return true;
}

// Split(f(x)) ⇒ f(x₁), …, f(xₙ)
bool function_last(Editor& editor, NodeId at) {
    const auto parts = Parts::of(editor, editor.node(at));
    const Node* f = parts ? editor.graph().producer(parts->whole) : nullptr;
    if (f == nullptr || !is_function(*f) || !editor.used_once(parts->whole)) return false;
    const std::vector<ValueId> fresh = add_split(editor, f->inputs[0], parts->axis, parts->sizes);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        Node one = *f;
        one.inputs = {fresh[i]};
        one.name.clear();
        editor.replace(parts->values[i], editor.add_node(std::move(one), 1)[0]);
    }
    return true;
}

// Split(Conv(x, w, b)) ⇒ Conv(x, w₁, b₁), …
bool convolutions_apart(Editor& editor, NodeId at) {
    const auto parts = Parts::of(editor, editor.node(at));
    if (!parts || parts->axis != 1 || editor.producer(parts->whole, "Conv") == nullptr) return false;
    const auto conv = Convolution::of(editor, editor.producer_id(parts->whole));
    if (!conv || conv->group != 1 || !editor.used_once(conv->y)) return false;
    const std::vector<ValueId> weights = add_split(editor, conv->w, 0, parts->sizes);
    std::vector<ValueId> biases;
    if (conv->bias != ValueId::none) biases = add_split(editor, conv->bias, 0, parts->sizes);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        std::vector<ValueId> inputs = {conv->x, weights[i]};
        if (!biases.empty()) inputs.push_back(biases[i]);
        editor.replace(parts->values[i], editor.add("Conv", inputs, conv->attributes(1)));
    }
    return true;
}

// Split(x·W) ⇒ x·W₁, …
bool products_apart(Editor& editor, NodeId at) {
    const auto parts = Parts::of(editor, editor.node(at));
    const Node* product = parts ? editor.producer(parts->whole, "MatMul") : nullptr;
    if (product == nullptr || !editor.used_once(parts->whole) || !editor.fixed(product->inputs[1]) ||
        parts->axis + 1 != editor.rank(parts->whole) || editor.rank(product->inputs[1]) != 2 ||
        editor.rank(product->inputs[0]).value_or(0) < 2)
        return false;
    const std::vector<ValueId> weights = add_split(editor, product->inputs[1], 1, parts->sizes);
    for (std::size_t i = 0; i < weights.size(); ++i)
        editor.replace(parts->values[i], editor.add("MatMul", {product->inputs[0], weights[i]}));
    return true;
}

std::vector<ValueId> split_of(Sketch& s, ValueId x, std::int64_t axis, const Dims& sizes) {
    Node node;
    node.op = "Split";
    node.inputs = {x, s.integers(sizes)};
    node.attributes["axis"] = axis;
    return s.graph.node(s.graph.add_node(node, sizes.size())).outputs;
}

Graph function_instance(Random& random, ElementType element, bool split_first) {
    Sketch s(random, element);
    const Dims sizes = {s.extent(1, 3), s.extent(1, 4), s.extent(1, 5)};
    const ValueId x = s.input({s.extent(1, 3), sizes[0] + sizes[1] + sizes[2], s.extent(1, 4)});
    const char* op = s.pick<const char*>({"Relu", "Tanh", "Neg"});
    std::vector<ValueId> outputs;
    for (const ValueId part : split_of(s, split_first ? x : s.add(op, {x}), s.coin() ? 1 : -2, sizes))
        outputs.push_back(split_first ? s.add(op, {part}) : s.coin() ? part : s.used(part));
    return s.finish(outputs);
}

Graph convolution_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims sizes = {s.extent(1, 3), s.extent(1, 4)};
    const std::int64_t channels = s.extent(1, 4);
    const ValueId x = s.input({s.extent(1, 2), channels, s.extent(3, 5), s.extent(3, 6)});
    std::vector<ValueId> inputs = {x, s.constant({sizes[0] + sizes[1], channels, 3, 2})};
    if (s.coin()) inputs.push_back(s.constant({sizes[0] + sizes[1]}));
    return s.finish(split_of(s, s.add("Conv", inputs, {{"pads", Dims{0, 1, 1, 0}}}), 1, sizes));
}

Graph product_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims sizes = {s.extent(1, 3), s.extent(1, 4), s.extent(1, 2)};
    const std::int64_t k = s.extent(1, 5);
    Dims dims = {s.extent(1, 4), k};
    if (s.coin()) dims.insert(dims.begin(), s.extent(1, 3));
    const ValueId y = s.add("MatMul", {s.input(dims), s.constant({k, sizes[0] + sizes[1] + sizes[2]})});
    return s.finish(split_of(s, y, -1, sizes));
}

}  // namespace

Rule function_before_split() {
    return {.name = "function_before_split",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (split and element-wise commute)",
            .equation = "f(x₁), …, f(xₙ) ⇒ Split(f(x)), where x₁, …, xₙ = Split(x)",
            .guards =
                "f is an element-wise function of one input, the same of every part; nothing else reads the "
                "parts",
            .apply = function_first,
            .instance = [](Random& r, ElementType e) { return function_instance(r, e, true); }};
}

Rule function_after_split() {
    return {.name = "function_after_split",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (split and element-wise commute)",
            .equation = "Split(f(x)) ⇒ f(x₁), …, f(xₙ), where x₁, …, xₙ = Split(x)",
            .guards = "f is an element-wise function of one input; nothing else reads f(x)",
            .apply = function_last,
            .instance = [](Random& r, ElementType e) { return function_instance(r, e, false); }};
}

Rule split_convolution() {
    return {.name = "split_convolution",
            .kind = Kind::alternative,
            .source = "MetaFlow §4; TASO (merge_convolutions, backwards)",
            .equation = "Split(Conv(x, [w₁; w₂], [b₁; b₂])) ⇒ Conv(x, w₁, b₁), Conv(x, w₂, b₂)",
            .guards = "along the channels, constant weights, no groups; nothing else reads the convolution",
            .polynomial = true,
            .apply = convolutions_apart,
            .instance = convolution_instance};
}

Rule split_matmul() {
    return {.name = "split_matmul",
            .kind = Kind::alternative,
            .source = "TASO (merge_matmuls, backwards)",
            .equation = "Split(x·[A, B]) ⇒ x·A, x·B",
            .guards = "along the last axis, a constant matrix; nothing else reads the product",
            .polynomial = true,
            .apply = products_apart,
            .instance = product_instance};
}

}  // namespace viridian::rewrite
