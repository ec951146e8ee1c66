// Recognises attention as one node: Softmax(q·k·s + m)·v ⇒ viridian.Attention(q, k, v, m; s), whose body is
// the left side. Vaswani et al. 2017 define it, as does ONNX Attention-23.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/pattern.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

Pattern recognise_attention_form() {
    const Pattern product = result_of(op::MatMul, {any("q"), any("k")}).as("product");
    const Pattern scaled =
        either({result_of(op::Div, {product, number("divisor")}), product * number("factor"), product});
    const Pattern scores = either({scaled + any("mask"), scaled});
    return result_of(op::MatMul, {result_of(op::Softmax, {scores}).as("weights"), any("v")});
}

// The operators that the node stands for, over explicit inputs.
std::shared_ptr<const Graph> attention_body(const Editor& editor, const std::vector<ValueId>& inputs,
                                            double scale) {
    Graph body;
    body.name = "attention";
    std::vector<ValueId> own;
    const char* names[] = {"q", "k", "v", "mask"};
    for (std::size_t i = 0; i < inputs.size(); ++i)
        own.push_back(body.add_input(names[i], editor.graph().value(inputs[i]).type));
    ValueId scores = body.add(op::MatMul, {own[0], own[1]});
    if (scale != 1) {
        const ElementType element = editor.element(inputs[0]);
        const ValueId wide =
            body.add_constant("scale", Tensor::of<double>(ElementType::f64, {}, std::span(&scale, 1)));
        const ValueId factor = element == ElementType::f64
                                   ? wide
                                   : body.add(op::Cast, {wide}, {{"to", graph::onnx_code_of(element)}});
        scores = body.add(op::Mul, {scores, factor});
    }
    if (own.size() > 3) scores = body.add(op::Add, {scores, own[3]});
    const ValueId weights = body.add(op::Softmax, {scores}, {{"axis", std::int64_t{-1}}});
    body.set_outputs({body.add(op::MatMul, {weights, own[2]})});
    return std::make_shared<const Graph>(std::move(body));
}

bool apply_recognise_attention(Editor& editor, NodeId at) {
    if (editor.node(at).op != op::MatMul) return false;
    static const Pattern pattern = recognise_attention_form();
    const auto found = match(editor, pattern, at);
    if (!found) return false;
    const Match& m = *found;
    const auto rank = editor.rank(m["weights"]);
    const std::int64_t axis = editor.producer(m["weights"], op::Softmax)->integer("axis", -1);
    if (!rank || (axis != -1 && axis != *rank - 1) || editor.rank(m["q"]).value_or(0) < 2 ||
        editor.rank(m["k"]).value_or(0) < 2 || editor.rank(m["v"]).value_or(0) < 2)
        return false;
    double scale = 1;
    if (m["divisor"] != ValueId::none) scale = 1 / *editor.scalar(m["divisor"]);
    if (m["factor"] != ValueId::none) scale = *editor.scalar(m["factor"]);
    std::vector<ValueId> inputs = {m["q"], m["k"], m["v"]};
    if (m["mask"] != ValueId::none) inputs.push_back(m["mask"]);
    Node node;
    node.op = graph::Operator("Attention", "viridian");
    node.attributes["scale"] = scale;
    node.bodies = {attention_body(editor, inputs, scale)};
    node.inputs = std::move(inputs);
    editor.replace(editor.node(at).outputs[0], editor.add_node(std::move(node), 1)[0]);
    return true;
}

Graph recognise_attention_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t n = g.extent(1, 2), h = g.extent(1, 3), rows = g.extent(2, 5), keys = g.extent(2, 6);
    const std::int64_t d = g.extent(1, 4), e = g.extent(1, 5);
    const ValueId q = g.input({n, h, rows, d});
    ValueId scores = g.add(op::MatMul, {q, g.input({n, h, d, keys})});
    const std::int64_t scaling = g.extent(0, 2);
    if (scaling == 1) scores = g.add(op::Div, {scores, g.scalar(3)});
    if (scaling == 2) scores = g.either_way(op::Mul, scores, g.scalar(0.25));
    if (g.coin()) scores = g.either_way(op::Add, scores, g.input({n, 1, 1, keys}));
    const ValueId weights = g.add(op::Softmax, {scores}, {{"axis", std::int64_t{g.coin() ? -1 : 3}}});
    return g.finish({g.add(op::MatMul, {weights, g.input({n, h, keys, e})})});
}

}  // namespace

Rule recognise_attention() {
    return {
        .name = "recognise_attention",
        .kind = Kind::alternative,
        .source = "Vaswani et al. 2017; ONNX Attention-23",
        .equation = "Softmax(q·k·s + m)·v ⇒ viridian.Attention(q, k, v, m; s), whose body is the left side",
        .guards = "softmax along the last axis, s a constant number; nothing else reads what lies between",
        .apply = apply_recognise_attention,
        .instance = recognise_attention_instance};
}

}  // namespace viridian::rewrite
