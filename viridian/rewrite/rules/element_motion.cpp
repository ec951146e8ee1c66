// Element-wise functions of one input change places with operators that only move elements.
#include <algorithm>

#include "viridian/graph/operators/row.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

bool elementwise(const Node& node) {
    const graph::OperatorRow* row = find_operator(node);
    return row != nullptr && row->operator_class == graph::OperatorClass::elementwise &&
           row->inputs.most == 1 && row->outputs.most == 1;
}

bool moves(const Node& node) {
    return node.domain.empty() && (node.op == "Transpose" || node.op == "Reshape" || node.op == "Flatten" ||
                                   node.op == "Squeeze" || node.op == "Unsqueeze");
}

// second(first(x)) ⇒ first(second(x)), attributes and further inputs kept.
bool exchange(Editor& editor, const Node& first, const Node& second) {
    if (!editor.used_once(second.inputs[0])) return false;
    std::vector<ValueId> inner = second.inputs;
    inner[0] = first.inputs[0];
    std::vector<ValueId> outer = first.inputs;
    outer[0] = editor.like(second, inner);
    editor.replace(second.outputs[0], editor.like(first, outer));
    return true;
}

bool move_after(Editor& editor, NodeId at) {
    const Node& f = editor.node(at);
    const Node* before = elementwise(f) ? editor.graph().producer(f.inputs[0]) : nullptr;
    return before != nullptr && moves(*before) && exchange(editor, *before, f);
}

bool move_before(Editor& editor, NodeId at) {
    const Node& move = editor.node(at);
    const Node* f = moves(move) ? editor.graph().producer(move.inputs[0]) : nullptr;
    return f != nullptr && elementwise(*f) && exchange(editor, *f, move);
}

// [f(x₁), …, f(xₙ)] ⇒ f([x₁, …, xₙ])
bool concat_first(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != "Concat" || joined.inputs.size() < 2) return false;
    const Node* f = editor.graph().producer(joined.inputs[0]);
    if (f == nullptr || !elementwise(*f)) return false;
    std::vector<ValueId> inputs;
    for (const ValueId input : joined.inputs) {
        const Node* other = editor.graph().producer(input);
        const bool same = other != nullptr && other->op == f->op && other->domain == f->domain &&
                          same_attributes(other->attributes, f->attributes) && editor.used_once(input);
        if (!same) return false;
        inputs.push_back(other->inputs[0]);
    }
    editor.replace(joined.outputs[0], editor.like(*f, {editor.add("Concat", inputs, joined.attributes)}));
    return true;
}

// MaxPool(f(x)) ⇔ f(MaxPool(x)) for f that never decreases.
bool grows(const Node& node) {
    return node.domain.empty() && (node.op == "Relu" || node.op == "Sigmoid" || node.op == "Tanh" ||
                                   (node.op == "LeakyRelu" && node.get("alpha", 0.01) >= 0));
}

bool plain_pool(const Node& node) {
    if (node.op != "MaxPool" || !node.domain.empty() || node.outputs.size() != 1 ||
        node.integer("ceil_mode", 0) != 0 || node.get("auto_pad", std::string("NOTSET")) != "NOTSET")
        return false;
    const Dims kernel = node.get("kernel_shape", Dims());
    const Dims pads = node.get("pads", Dims());
    for (std::size_t i = 0; i < pads.size(); ++i)
        if (pads[i] >= kernel[i % kernel.size()]) return false;
    return true;
}

bool pool_first(Editor& editor, NodeId at) {
    const Node& pool = editor.node(at);
    const Node* f = plain_pool(pool) ? editor.graph().producer(pool.inputs[0]) : nullptr;
    return f != nullptr && grows(*f) && exchange(editor, *f, pool);
}

bool pool_last(Editor& editor, NodeId at) {
    const Node& f = editor.node(at);
    const Node* pool = grows(f) ? editor.graph().producer(f.inputs[0]) : nullptr;
    return pool != nullptr && plain_pool(*pool) && exchange(editor, *pool, f);
}

ValueId some_function(Sketch& s, ValueId x) {
    return s.add(s.pick<const char*>({"Neg", "Tanh", "Relu", "Exp", "Erf"}), {x});
}

ValueId some_move(Sketch& s, ValueId x, const Dims& dims) {
    switch (s.extent(0, 3)) {
        case 0:
            return s.add("Transpose", {x}, {{"perm", s.permutation(static_cast<std::int64_t>(dims.size()))}});
        case 1:
            return s.add("Reshape", {x, s.integers({dims[1], -1})});
        case 2:
            return s.add("Flatten", {x}, {{"axis", s.extent(0, 3)}});
        default:
            return s.add("Unsqueeze", {x, s.integers({s.extent(0, 3)})});
    }
}

Graph motion_instance(Random& random, ElementType element, bool function_last) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 3), s.extent(2, 4), s.extent(2, 5)};
    const ValueId x = s.input(dims);
    const ValueId y =
        function_last ? some_function(s, some_move(s, x, dims)) : some_move(s, some_function(s, x), dims);
    return s.finish({y});
}

Graph concat_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 3), s.extent(1, 4)};
    const char* op = s.pick<const char*>({"Relu", "Neg", "Sigmoid"});
    std::vector<ValueId> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(s.add(op, {s.input({dims[0], s.extent(1, 5)})}));
    return s.finish({s.add("Concat", parts, {{"axis", std::int64_t{1}}})});
}

Graph pool_instance(Random& random, ElementType element, bool pool_last_of_two) {
    Sketch s(random, element);
    const ValueId x = s.input({s.extent(1, 2), s.extent(1, 3), s.extent(4, 7), s.extent(4, 6)});
    const char* op = s.pick<const char*>({"Relu", "Sigmoid", "Tanh", "LeakyRelu"});
    const auto pool = [&](ValueId y) {
        return s.add("MaxPool", {y},
                     {{"kernel_shape", Dims{3, 2}}, {"pads", Dims{1, 1, 0, 0}}, {"strides", Dims{2, 1}}});
    };
    return s.finish({pool_last_of_two ? pool(s.add(op, {x})) : s.add(op, {pool(x)})});
}

constexpr std::string_view read_once =
    "f is an element-wise function of one input; nothing else reads what lies between";
constexpr std::string_view monotone =
    "f ∈ {Relu, Sigmoid, Tanh, LeakyRelu with α ≥ 0}; no window lies in padding alone";

}  // namespace

Rule move_elements_after() {
    return {.name = "move_elements_after",
            .kind = Kind::alternative,
            .source = "TASO; ONNX Runtime TransposeOptimizer",
            .equation = "f(Transpose(x)) ⇒ Transpose(f(x)); Reshape, Flatten, Squeeze, Unsqueeze alike",
            .guards = read_once,
            .polynomial = false,
            .apply = move_after,
            .instance = [](Random& r, ElementType e) { return motion_instance(r, e, true); }};
}

Rule move_elements_before() {
    return {.name = "move_elements_before",
            .kind = Kind::alternative,
            .source = "TASO; ONNX Runtime TransposeOptimizer",
            .equation = "Transpose(f(x)) ⇒ f(Transpose(x)); Reshape, Flatten, Squeeze, Unsqueeze alike",
            .guards = read_once,
            .polynomial = false,
            .apply = move_before,
            .instance = [](Random& r, ElementType e) { return motion_instance(r, e, false); }};
}

Rule concat_before_function() {
    return {.name = "concat_before_function",
            .kind = Kind::alternative,
            .source = "TASO; Tensat",
            .equation = "[f(x₁), …, f(xₙ)] ⇒ f([x₁, …, xₙ])",
            .guards = read_once,
            .polynomial = false,
            .apply = concat_first,
            .instance = concat_instance};
}

Rule pool_before_function() {
    return {.name = "pool_before_function",
            .kind = Kind::alternative,
            .source = "TASO (relu and pooling commute)",
            .equation = "MaxPool(f(x)) ⇒ f(MaxPool(x))",
            .guards = monotone,
            .polynomial = false,
            .apply = pool_first,
            .instance = [](Random& r, ElementType e) { return pool_instance(r, e, true); }};
}

Rule pool_after_function() {
    return {.name = "pool_after_function",
            .kind = Kind::alternative,
            .source = "TASO (relu and pooling commute)",
            .equation = "f(MaxPool(x)) ⇒ MaxPool(f(x))",
            .guards = monotone,
            .polynomial = false,
            .apply = pool_last,
            .instance = [](Random& r, ElementType e) { return pool_instance(r, e, false); }};
}

}  // namespace viridian::rewrite
