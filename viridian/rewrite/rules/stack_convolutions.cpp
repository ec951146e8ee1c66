// All convolutions of one input that have the same windows as one.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

// The function that the only reader of every output applies, if it is one and the same.
const Node* shared_function(const Editor& editor, const std::vector<Convolution>& all) {
    const Node* first = nullptr;
    for (const Convolution& conv : all) {
        const Node* f = only_reader(editor, conv.y);
        if (f == nullptr || !is_function(*f)) return nullptr;
        if (first == nullptr) first = f;
        if (f->op != first->op || f->domain != first->domain ||
            !same_attributes(f->attributes, first->attributes))
            return nullptr;
    }
    return first;
}

bool apply(Editor& editor, NodeId at) {
    const auto last = Convolution::of(editor, at);
    if (!last || last->group != 1) return false;
    std::vector<Convolution> all;
    for (const NodeId reader : editor.readers(last->x)) {
        auto conv = Convolution::of(editor, reader);
        if (!conv || conv->x != last->x || conv->group != 1 || !conv->same_windows(*last)) continue;
        if (index(reader) > index(at)) return false;  // applied at the last one
        all.push_back(*std::move(conv));
    }
    const Node* f = all.size() < 2 ? nullptr : shared_function(editor, all);
    if (all.size() < 2 || (all.size() == 2 && f == nullptr)) return false;  // merge_convolutions'
    std::vector<ValueId> weights, biases;
    Dims channels;
    bool biased = false;
    for (const Convolution& conv : all) {
        weights.push_back(conv.w);
        channels.push_back(conv.weights[0]);
        biased = biased || conv.bias != ValueId::none;
    }
    std::vector<ValueId> inputs = {last->x, add_concat(editor, weights, 0)};
    if (biased) {
        for (const Convolution& conv : all) biases.push_back(conv.bias_or_zero(editor));
        inputs.push_back(add_concat(editor, biases, 0));
    }
    ValueId y = editor.add("Conv", inputs, last->attributes(1));
    if (f != nullptr)
        y = editor.add_node({.op = f->op,
                             .domain = f->domain,
                             .name = {},
                             .inputs = {y},
                             .outputs = {},
                             .attributes = f->attributes,
                             .bodies = f->bodies,
                             .origin = {}},
                            1)[0];
    const std::vector<ValueId> parts = add_split(editor, y, 1, channels);
    for (std::size_t i = 0; i < all.size(); ++i)
        editor.replace(f != nullptr ? only_reader(editor, all[i].y)->outputs[0] : all[i].y, parts[i]);
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t channels = s.extent(1, 4);
    const ValueId x = s.input({s.extent(1, 2), channels, s.extent(3, 6), s.extent(3, 7)});
    const Attributes attributes = {{"pads", Dims{1, 0, 0, 1}},
                                   {"strides", Dims{s.extent(1, 2), s.extent(1, 3)}}};
    const std::int64_t count = s.extent(2, 4);
    const bool functions = count == 2 || s.coin();
    std::vector<ValueId> outputs;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t m = s.extent(1, 5);
        std::vector<ValueId> inputs = {x, s.constant({m, channels, 3, 2})};
        if (s.coin()) inputs.push_back(s.constant({m}));
        const ValueId y = s.add("Conv", inputs, attributes);
        outputs.push_back(functions ? s.add("Relu", {y}) : s.coin() ? s.used(y) : y);
    }
    return s.finish(outputs);
}

}  // namespace

Rule stack_convolutions() {
    return {
        .name = "stack_convolutions",
        .kind = Kind::alternative,
        .source = "MetaFlow §4; EAGO §3.1 (merge_convolutions for all at once, functions with them)",
        .equation = "f(Conv(x, w₁, b₁)), …, f(Conv(x, wₙ, bₙ)) ⇒ Split(f(Conv(x, [w₁; …; wₙ], [b₁; …; bₙ])))",
        .guards =
            "all convolutions of x with these windows, no groups, constant weights; f is left out where it "
            "is not the same element-wise function; n ≥ 3, or 2 with f",
        .polynomial = false,
        .apply = apply,
        .instance = instance};
}

}  // namespace viridian::rewrite
