#include "viridian/rewrite/moderate.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

// A product or quotient with a constant number: x, the number, and the operator.
struct Scaled {
    const Node* node;
    ValueId x, factor;
};

std::optional<Scaled> scaled(const Editor& editor, ValueId value) {
    for (const char* op : {"Mul", "Div"}) {
        const Node* node = editor.producer(value, op);
        if (node == nullptr || !editor.used_once(value) || !graph::is_floating(editor.element(value)))
            continue;
        for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
            const ValueId factor = node->inputs[side], x = node->inputs[1 - side];
            if ((side == 1 || node->op == "Mul") && editor.scalar(factor) && editor.same_type(x, value) &&
                moderate(editor, factor, "Mul", node->op == "Div"))
                return Scaled{node, x, factor};
        }
    }
    return std::nullopt;
}

bool to_output(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != "MatMul") return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const auto found = scaled(editor, product.inputs[side]);
        if (!found) continue;
        std::vector<ValueId> inputs = product.inputs;
        inputs[side] = found->x;
        editor.replace(product.outputs[0],
                       editor.add(found->node->op, {editor.add("MatMul", inputs), found->factor}));
        return true;
    }
    return false;
}

bool to_input(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if ((node.op != "Mul" && node.op != "Div") || node.outputs.empty()) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* product = editor.producer(node.inputs[side], "MatMul");
        const ValueId factor = node.inputs[1 - side];
        if (product == nullptr || !graph::is_floating(editor.element(node.outputs[0])) ||
            (node.op == "Div" && side == 1) || !editor.scalar(factor) ||
            !editor.used_once(node.inputs[side]) || !editor.same_type(node.inputs[side], node.outputs[0]))
            continue;
        const auto dims = editor.dims(factor);
        if (!dims || !dims->empty() || !moderate(editor, factor, "Mul", node.op == "Div"))
            continue;  // a number of higher rank could add dimensions
        std::vector<ValueId> inputs = product->inputs;
        inputs[0] = editor.add(node.op, {inputs[0], factor});
        editor.replace(node.outputs[0], editor.add("MatMul", inputs));
        return true;
    }
    return false;
}

Graph instance(Random& random, ElementType element, bool inside) {
    Sketch s(random, element);
    const Dims a = {s.extent(1, 3), s.extent(1, 4), s.extent(1, 5)};
    const Dims b = {a[0], a[2], s.extent(1, 6)};
    const auto scale = [&](ValueId x) {
        const ValueId factor = s.constant({});
        return s.coin() ? s.add("Div", {x, factor}) : s.either_way("Mul", x, factor);
    };
    ValueId x = s.input(a);
    ValueId y = s.input(b);
    if (inside && s.coin())
        x = scale(x);
    else if (inside)
        y = scale(y);
    const ValueId product = s.add("MatMul", {x, y});
    return s.finish({inside ? product : scale(product)});
}

}  // namespace

Rule scale_after_matmul() {
    return {
        .name = "scale_after_matmul",
        .kind = Kind::alternative,
        .source = "SUBSTATION §IV; issue 3 (scale folding through attention)",
        .equation = "(a·c)×b ⇒ (a×b)·c, c a number; on either side, division alike",
        .guards =
            "c is a moderate constant number (merge_scales) and adds no dimension; nothing else reads a·c",
        .polynomial = true,
        .apply = to_output,
        .instance = [](Random& r, ElementType e) { return instance(r, e, true); }};
}

Rule scale_before_matmul() {
    return {.name = "scale_before_matmul",
            .kind = Kind::alternative,
            .source = "SUBSTATION §IV; issue 3 (scale folding through attention)",
            .equation = "(a×b)·c ⇒ (a·c)×b, c a number; division alike",
            .guards = "c is a moderate constant (merge_scales) of rank 0; nothing else reads a×b",
            .polynomial = true,
            .apply = to_input,
            .instance = [](Random& r, ElementType e) { return instance(r, e, false); }};
}

}  // namespace viridian::rewrite
