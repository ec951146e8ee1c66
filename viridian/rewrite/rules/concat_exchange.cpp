// Concatenations change places with functions, sums and pooling.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

const Node* joined_input(const Editor& editor, const Node& node) {
    const Node* joined = editor.producer(node.inputs[0], "Concat");
    return joined != nullptr && editor.used_once(node.inputs[0]) && joined->inputs.size() > 1 ? joined
                                                                                              : nullptr;
}

// f([x₁, …, xₙ]) ⇒ [f(x₁), …, f(xₙ)]
bool function_first(Editor& editor, NodeId at) {
    const Node& f = editor.node(at);
    const Node* joined = is_function(f) ? joined_input(editor, f) : nullptr;
    if (joined == nullptr) return false;
    std::vector<ValueId> parts;
    for (const ValueId input : joined->inputs) parts.push_back(editor.like(f, {input}));
    editor.replace(f.outputs[0], editor.add("Concat", parts, joined->attributes));
    return true;
}

// [g(x₁, y₁), g(x₂, y₂)] ⇒ g([x₁, x₂], [y₁, y₂])
bool arithmetic_last(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != "Concat" || !joined.domain.empty() || joined.inputs.size() < 2) return false;
    const Node* first = editor.graph().producer(joined.inputs[0]);
    std::vector<ValueId> left, right;
    for (const ValueId input : joined.inputs) {
        const Node* g = editor.graph().producer(input);
        if (g == nullptr || !is_arithmetic(*g) || g->op != first->op || !editor.used_once(input) ||
            !editor.same_type(g->inputs[0], g->inputs[1]))
            return false;
        left.push_back(g->inputs[0]);
        right.push_back(g->inputs[1]);
    }
    const ValueId a = editor.add("Concat", left, joined.attributes);
    editor.replace(joined.outputs[0],
                   editor.add(first->op, {a, editor.add("Concat", right, joined.attributes)}));
    return true;
}

bool pools(const Node& node) {
    return node.domain.empty() && node.outputs.size() == 1 &&
           (node.op == "MaxPool" || node.op == "AveragePool" || node.op == "GlobalAveragePool" ||
            node.op == "GlobalMaxPool");
}

bool beside_the_plane(const Editor& editor, const Node& joined) {
    const auto axis = axis_of(editor, joined);
    return axis && *axis <= 1;
}

// [P(x₁), …, P(xₙ)] ⇒ P([x₁, …, xₙ])
bool pool_last(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != "Concat" || !joined.domain.empty() || joined.inputs.size() < 2) return false;
    const Node* first = editor.graph().producer(joined.inputs[0]);
    if (first == nullptr || !pools(*first) || !beside_the_plane(editor, joined)) return false;
    const auto axis = static_cast<std::size_t>(*axis_of(editor, joined));
    std::vector<ValueId> inputs;
    for (const ValueId input : joined.inputs) {
        const Node* pool = editor.graph().producer(input);
        if (pool == nullptr || pool->op != first->op || !pool->domain.empty() || !pools(*pool) ||
            !same_attributes(pool->attributes, first->attributes) || !editor.used_once(input) ||
            !same_beside(editor, pool->inputs[0], first->inputs[0], axis))
            return false;
        inputs.push_back(pool->inputs[0]);
    }
    editor.replace(joined.outputs[0], editor.add(first->op, {editor.add("Concat", inputs, joined.attributes)},
                                                 first->attributes));
    return true;
}

// P([x₁, …, xₙ]) ⇒ [P(x₁), …, P(xₙ)]
bool pool_first(Editor& editor, NodeId at) {
    const Node& pool = editor.node(at);
    const Node* joined = pools(pool) ? joined_input(editor, pool) : nullptr;
    if (joined == nullptr || !beside_the_plane(editor, *joined)) return false;
    std::vector<ValueId> parts;
    for (const ValueId input : joined->inputs) parts.push_back(editor.like(pool, {input}));
    editor.replace(pool.outputs[0], editor.add("Concat", parts, joined->attributes));
    return true;
}

Graph function_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 3), s.extent(1, 4)};
    std::vector<ValueId> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(s.input({dims[0], s.extent(1, 5), dims[1]}));
    const ValueId y = s.add("Concat", parts, {{"axis", std::int64_t{s.coin() ? 1 : -2}}});
    return s.finish({s.add(s.pick<const char*>({"Relu", "Neg", "Sigmoid"}), {y})});
}

Graph arithmetic_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const char* g = s.pick<const char*>({"Add", "Sub", "Mul"});
    const std::int64_t rows = s.extent(1, 4);
    std::vector<ValueId> parts;
    for (int i = 0; i < 3; ++i) {
        const Dims dims = {rows, s.extent(1, 5)};
        const ValueId x = s.input(dims);
        parts.push_back(s.add(g, {x, s.coin() ? s.input(dims) : s.constant(dims)}));
    }
    return s.finish({s.add("Concat", parts, {{"axis", std::int64_t{1}}})});
}

Graph pool_instance(Random& random, ElementType element, bool pools_first) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 2), 0, s.extent(4, 6), s.extent(4, 7)};
    const char* op = s.pick<const char*>({"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"});
    Attributes attributes;
    if (op[0] != 'G')
        attributes = {{"kernel_shape", Dims{3, 2}}, {"pads", Dims{1, 0, 1, 1}}, {"strides", Dims{2, 1}}};
    std::vector<ValueId> parts;
    for (int i = 0; i < 2; ++i) {
        const ValueId x = s.input({dims[0], s.extent(1, 4), dims[2], dims[3]});
        parts.push_back(pools_first ? s.add(op, {x}, attributes) : x);
    }
    const ValueId joined = s.add("Concat", parts, {{"axis", std::int64_t{s.coin() ? 1 : -3}}});
    return s.finish({pools_first ? joined : s.add(op, {joined}, attributes)});
}

constexpr std::string_view pooling =
    "P ∈ {MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool}, along images or channels; nothing else "
    "reads what lies between";

}  // namespace

Rule function_before_concat() {
    return {.name = "function_before_concat",
            .kind = Kind::alternative,
            .source = "TASO; Tensat",
            .equation = "f([x₁, …, xₙ]) ⇒ [f(x₁), …, f(xₙ)]",
            .guards = "f is an element-wise function of one input; nothing else reads the concatenation",
            .apply = function_first,
            .instance = function_instance};
}

Rule concat_before_arithmetic() {
    return {.name = "concat_before_arithmetic",
            .kind = Kind::alternative,
            .source = "TASO; Tensat",
            .equation = "[g(x₁, y₁), …, g(xₙ, yₙ)] ⇒ g([x₁, …, xₙ], [y₁, …, yₙ])",
            .guards = "g ∈ {+, −, ·, /}, xᵢ and yᵢ of equal types; nothing else reads what lies between",
            .polynomial = true,
            .apply = arithmetic_last,
            .instance = arithmetic_instance};
}

Rule concat_before_pool() {
    return {.name = "concat_before_pool",
            .kind = Kind::alternative,
            .source = "TASO (concat and pooling commute)",
            .equation = "[P(x₁), …, P(xₙ)] ⇒ P([x₁, …, xₙ])",
            .guards = pooling,
            .apply = pool_last,
            .instance = [](Random& r, ElementType e) { return pool_instance(r, e, true); }};
}

Rule pool_before_concat() {
    return {.name = "pool_before_concat",
            .kind = Kind::alternative,
            .source = "TASO (concat and pooling commute)",
            .equation = "P([x₁, …, xₙ]) ⇒ [P(x₁), …, P(xₙ)]",
            .guards = pooling,
            .apply = pool_first,
            .instance = [](Random& r, ElementType e) { return pool_instance(r, e, false); }};
}

}  // namespace viridian::rewrite
