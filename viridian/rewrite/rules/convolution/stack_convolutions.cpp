// Joins all convolutions of one input that have the same windows, with the function behind each of them:
// f(Conv(x, w₁, b₁)), …, f(Conv(x, wₙ, bₙ)) ⇒ Split(f(Conv(x, [w₁; …; wₙ], [b₁; …; bₙ]))). MetaFlow §4 and
// EAGO §3.1 merge two at a time.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

// The function that the only reader of every output applies, if all readers apply the same.
const Node* shared_function(const Editor& editor, const std::vector<Convolution>& all) {
    const Node* first = nullptr;
    for (const Convolution& conv : all) {
        const Node* f = only_reader(editor, conv.y);
        if (f == nullptr || !is_function(*f)) return nullptr;
        if (first == nullptr) first = f;
        if (!same_operator(*f, *first)) return nullptr;
    }
    return first;
}

bool apply_stack_convolutions(Editor& editor, NodeId at) {
    const auto last = Convolution::of(editor, at);
    if (!last || last->group != 1) return false;
    std::vector<Convolution> all;
    for (const NodeId reader : editor.readers(last->x)) {
        auto conv = Convolution::of(editor, reader);
        if (!conv || conv->x != last->x || conv->group != 1 || !conv->same_windows(*last)) continue;
        if (index(reader) > index(at)) return false;  // the rule applies at the last one
        all.push_back(*std::move(conv));
    }
    const Node* f = all.size() < 2 ? nullptr : shared_function(editor, all);
    if (all.size() < 2 || (all.size() == 2 && f == nullptr)) return false;  // merge_convolutions takes those
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
    ValueId y = editor.add(op::Conv, inputs, last->attributes(1));
    if (f != nullptr)
        y = editor.add_node({.op = f->op,
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

Graph stack_convolutions_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t channels = g.extent(1, 4);
    const ValueId x = g.input({g.extent(1, 2), channels, g.extent(3, 6), g.extent(3, 7)});
    const Attributes attributes = {{"pads", Dims{1, 0, 0, 1}},
                                   {"strides", Dims{g.extent(1, 2), g.extent(1, 3)}}};
    const std::int64_t count = g.extent(2, 4);
    const bool functions = count == 2 || g.coin();
    std::vector<ValueId> outputs;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t m = g.extent(1, 5);
        std::vector<ValueId> inputs = {x, g.constant({m, channels, 3, 2})};
        if (g.coin()) inputs.push_back(g.constant({m}));
        const ValueId y = g.add(op::Conv, inputs, attributes);
        outputs.push_back(functions ? g.add(op::Relu, {y}) : g.coin() ? g.used(y) : y);
    }
    return g.finish(outputs);
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
        .apply = apply_stack_convolutions,
        .instance = stack_convolutions_instance};
}

}  // namespace viridian::rewrite
