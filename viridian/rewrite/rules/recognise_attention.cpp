#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/pattern.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

Pattern form() {
    const Pattern product = op("MatMul", {any("q"), any("k")}).as("product");
    const Pattern scaled =
        either({op("Div", {product, number("divisor")}), product * number("factor"), product});
    const Pattern scores = either({scaled + any("mask"), scaled});
    return op("MatMul", {op("Softmax", {scores}).as("weights"), any("v")});
}

// What the node means: its own operators, over explicit inputs.
std::shared_ptr<const Graph> meaning(const Editor& editor, const std::vector<ValueId>& inputs, double scale) {
    Graph body;
    body.name = "attention";
    std::vector<ValueId> own;
    const char* names[] = {"q", "k", "v", "mask"};
    for (std::size_t i = 0; i < inputs.size(); ++i)
        own.push_back(body.add_input(names[i], editor.graph().value(inputs[i]).type));
    ValueId scores = body.add("MatMul", {own[0], own[1]});
    if (scale != 1) {
        const ElementType element = editor.element(inputs[0]);
        const ValueId wide =
            body.add_constant("scale", Tensor::of<double>(ElementType::f64, {}, std::span(&scale, 1)));
        const ValueId factor = element == ElementType::f64
                                   ? wide
                                   : body.add("Cast", {wide}, {{"to", graph::onnx_code_of(element)}});
        scores = body.add("Mul", {scores, factor});
    }
    if (own.size() > 3) scores = body.add("Add", {scores, own[3]});
    const ValueId weights = body.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    body.set_outputs({body.add("MatMul", {weights, own[2]})});
    return std::make_shared<const Graph>(std::move(body));
}

bool apply(Editor& editor, NodeId at) {
    if (editor.node(at).op != "MatMul") return false;
    static const Pattern pattern = form();
    const auto found = match(editor, pattern, at);
    if (!found) return false;
    const Match& m = *found;
    const auto rank = editor.rank(m["weights"]);
    const std::int64_t axis = editor.producer(m["weights"], "Softmax")->integer("axis", -1);
    if (!rank || (axis != -1 && axis != *rank - 1) || editor.rank(m["q"]).value_or(0) < 2 ||
        editor.rank(m["k"]).value_or(0) < 2 || editor.rank(m["v"]).value_or(0) < 2)
        return false;
    double scale = 1;
    if (m["divisor"] != ValueId::none) scale = 1 / *editor.scalar(m["divisor"]);
    if (m["factor"] != ValueId::none) scale = *editor.scalar(m["factor"]);
    std::vector<ValueId> inputs = {m["q"], m["k"], m["v"]};
    if (m["mask"] != ValueId::none) inputs.push_back(m["mask"]);
    Node node;
    node.op = "Attention";
    node.domain = "viridian";
    node.attributes["scale"] = scale;
    node.bodies = {meaning(editor, inputs, scale)};
    node.inputs = std::move(inputs);
    editor.replace(editor.node(at).outputs[0], editor.add_node(std::move(node), 1)[0]);
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t n = s.extent(1, 2), h = s.extent(1, 3), rows = s.extent(2, 5), keys = s.extent(2, 6);
    const std::int64_t d = s.extent(1, 4), e = s.extent(1, 5);
    const ValueId q = s.input({n, h, rows, d});
    ValueId scores = s.add("MatMul", {q, s.input({n, h, d, keys})});
    const std::int64_t scaling = s.extent(0, 2);
    if (scaling == 1) scores = s.add("Div", {scores, s.scalar(3)});
    if (scaling == 2) scores = s.either_way("Mul", scores, s.scalar(0.25));
    if (s.coin()) scores = s.either_way("Add", scores, s.input({n, 1, 1, keys}));
    const ValueId weights = s.add("Softmax", {scores}, {{"axis", std::int64_t{s.coin() ? -1 : 3}}});
    return s.finish({s.add("MatMul", {weights, s.input({n, h, keys, e})})});
}

}  // namespace

Rule recognise_attention() {
    return {
        .name = "recognise_attention",
        .kind = Kind::alternative,
        .source = "Vaswani et al. 2017; ONNX Attention-23",
        .equation = "Softmax(q·k·s + m)·v ⇒ viridian.Attention(q, k, v, m; s), whose body is the left side",
        .guards = "softmax along the last axis, s a constant number; nothing else reads what lies between",
        .polynomial = false,
        .apply = apply,
        .instance = instance};
}

}  // namespace viridian::rewrite
