// The scale of attention's scores, folded into the projection that its queries or keys come from.
#include "viridian/rewrite/affine.hpp"
#include "viridian/rewrite/moderate.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

// From a product's operand back to the projection, through what only moves elements and through added
// biases. Everything on the way is read once.
struct Way {
    std::vector<const Node*> moves;  // last first
    const Node* bias = nullptr;      // Add with a constant
    const Node* product = nullptr;   // MatMul or Gemm with constant weights
};

bool moves_only(const Node& node) {
    return node.domain.empty() && (node.op == "Transpose" || node.op == "Reshape" || node.op == "Flatten" ||
                                   node.op == "Squeeze" || node.op == "Unsqueeze");
}

std::optional<Way> way_back(const Editor& editor, ValueId value) {
    Way way;
    for (int step = 0; step < 8; ++step) {
        const Node* node = editor.graph().producer(value);
        if (node == nullptr || !editor.used_once(value)) return std::nullopt;
        if (moves_only(*node) && way.bias == nullptr) {
            way.moves.push_back(node);
            value = node->inputs[0];
        } else if (node->op == "Add" && node->domain.empty() && way.bias == nullptr &&
                   editor.fixed(node->inputs[0]) != editor.fixed(node->inputs[1])) {
            way.bias = node;
            value = node->inputs[editor.fixed(node->inputs[0]) ? 1 : 0];
            if (!editor.same_type(value, node->outputs[0])) return std::nullopt;
        } else if (node->op == "MatMul" || node->op == "Gemm") {
            if (!Linear::of(editor, value)) return std::nullopt;
            way.product = node;
            return way;
        } else {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

bool apply(Editor& editor, NodeId at) {
    const Node& scaled = editor.node(at);
    if ((scaled.op != "Mul" && scaled.op != "Div") || !scaled.domain.empty() || scaled.inputs.size() != 2)
        return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* scores = editor.producer(scaled.inputs[side], "MatMul");
        const ValueId c = scaled.inputs[1 - side];
        if (scores == nullptr || (scaled.op == "Div" && side == 1) || !editor.scalar(c) ||
            editor.rank(c) != 0 || !editor.used_once(scaled.inputs[side]) ||
            scores->inputs[0] == scores->inputs[1])
            continue;
        for (const std::size_t operand : {std::size_t{0}, std::size_t{1}}) {
            const auto way = way_back(editor, scores->inputs[operand]);
            if (!way) continue;
            const bool divides = scaled.op == "Div";
            const auto linear = Linear::of(editor, way->product->outputs[0]);
            if (!linear->takes_factor(editor, c, divides)) continue;
            ValueId b = ValueId::none;
            if (way->bias != nullptr) {
                b = way->bias->inputs[editor.fixed(way->bias->inputs[0]) ? 0 : 1];
                if (!folds_normally(editor, b, c, divides)) continue;
            }
            ValueId factors = editor.add("Expand", {c, editor.vector_of({linear->channels})});
            if (divides) factors = editor.add("Reciprocal", {factors});
            ValueId y = linear->affine(editor, factors, ValueId::none);
            if (b != ValueId::none) y = editor.add("Add", {y, editor.add(scaled.op, {b, c})});
            for (auto move = way->moves.rbegin(); move != way->moves.rend(); ++move) {
                std::vector<ValueId> inputs = (*move)->inputs;
                inputs[0] = y;
                y = editor.add((*move)->op, inputs, (*move)->attributes);
            }
            std::vector<ValueId> inputs = scores->inputs;
            inputs[operand] = y;
            editor.replace(scaled.outputs[0], editor.add("MatMul", inputs));
            return true;
        }
    }
    return false;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t n = s.extent(1, 2), rows = s.extent(2, 4), heads = s.extent(1, 3), d = s.extent(1, 4);
    const std::int64_t width = heads * d, k = s.extent(1, 5);
    const bool query = s.coin();
    const auto projected = [&](const Dims& perm) {
        ValueId y = s.add("MatMul", {s.input({n, rows, k}), s.constant({k, width})});
        if (s.coin()) y = s.either_way("Add", y, s.constant({width}));
        y = s.add("Reshape", {y, s.integers({n, rows, heads, d})});
        return s.add("Transpose", {y}, {{"perm", perm}});
    };
    const ValueId q = query ? projected({0, 2, 1, 3}) : s.input({n, heads, rows, d});
    const ValueId keys = query ? s.input({n, heads, d, s.extent(1, 5)}) : projected({0, 2, 3, 1});
    const ValueId scores = s.add("MatMul", {q, keys});
    const ValueId c = s.constant({});
    return s.finish({s.coin() ? s.add("Div", {scores, c}) : s.either_way("Mul", scores, c)});
}

}  // namespace

Rule fold_attention_scale() {
    return {.name = "fold_attention_scale",
            .kind = Kind::alternative,
            .source = "SUBSTATION §IV (scale folding through attention)",
            .equation = "(M(x·W + b)·k)·c ⇒ M(x·(c·W) + c·b)·k; on the keys' side, division and Gemm alike",
            .guards =
                "c is a moderate constant (merge_scales) of rank 0, W and b are constants, c·W and c·b stay "
                "finite and normal; M only moves elements; everything between is read once",
            .polynomial = false,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
