// Folds the scale of attention's scores into the projection that its queries or keys come from:
// (M(x·W + b)·k)·c ⇒ M(x·(c·W) + c·b)·k, where M only moves elements. SUBSTATION §IV folds this scale.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/linear.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

// The operators from a product's operand back to its projection: movements of elements and an added bias,
// each read once.
struct ProjectionPath {
    std::vector<const Node*> moves;  // the last one first
    const Node* bias = nullptr;      // an Add with a constant, or null
    const Node* product = nullptr;   // a MatMul or Gemm with constant weights
};

std::optional<ProjectionPath> path_to_projection(const Editor& editor, ValueId value) {
    ProjectionPath path;
    for (int step = 0; step < 8; ++step) {
        const Node* node = editor.graph().producer(value);
        if (node == nullptr || !editor.used_once(value)) return std::nullopt;
        if (moves_elements(*node) && path.bias == nullptr) {
            path.moves.push_back(node);
            value = node->inputs[0];
        } else if (node->op == op::Add && path.bias == nullptr &&
                   editor.fixed(node->inputs[0]) != editor.fixed(node->inputs[1])) {
            path.bias = node;
            value = node->inputs[editor.fixed(node->inputs[0]) ? 1 : 0];
            if (!editor.same_type(value, node->outputs[0])) return std::nullopt;
        } else if (node->op == op::MatMul || node->op == op::Gemm) {
            if (!Linear::of(editor, value)) return std::nullopt;
            path.product = node;
            return path;
        } else {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

bool apply_fold_attention_scale(Editor& editor, NodeId at) {
    const Node& scaled = editor.node(at);
    if ((scaled.op != op::Mul && scaled.op != op::Div) || scaled.inputs.size() != 2) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* scores = editor.producer(scaled.inputs[side], op::MatMul);
        const ValueId c = scaled.inputs[1 - side];
        if (scores == nullptr || (scaled.op == op::Div && side == 1) || !editor.is_number(c) ||
            !editor.used_once(scaled.inputs[side]) || scores->inputs[0] == scores->inputs[1])
            continue;
        for (const std::size_t operand : {std::size_t{0}, std::size_t{1}}) {
            const auto path = path_to_projection(editor, scores->inputs[operand]);
            if (!path) continue;
            const auto linear = Linear::of(editor, path->product->outputs[0]);
            if (!linear->takes_factor(editor, c, role_of(scaled))) continue;
            ValueId b = ValueId::none;
            if (path->bias != nullptr) {
                b = path->bias->inputs[editor.fixed(path->bias->inputs[0]) ? 0 : 1];
                if (!fold_keeps_normals(editor, b, c, role_of(scaled))) continue;
            }
            ValueId factors = editor.add(op::Expand, {c, editor.vector_of({linear->channels})});
            if (scaled.op == op::Div) factors = editor.add(op::Reciprocal, {factors});
            ValueId y = linear->affine(editor, factors, ValueId::none);
            if (b != ValueId::none) y = editor.add(op::Add, {y, editor.add(scaled.op, {b, c})});
            for (auto move = path->moves.rbegin(); move != path->moves.rend(); ++move)
                y = moved_alike(editor, **move, y);
            std::vector<ValueId> inputs = scores->inputs;
            inputs[operand] = y;
            editor.replace(scaled.outputs[0], editor.add(op::MatMul, inputs));
            return true;
        }
    }
    return false;
}

Graph fold_attention_scale_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t n = g.extent(1, 2), rows = g.extent(2, 4), heads = g.extent(1, 3), d = g.extent(1, 4);
    const std::int64_t width = heads * d, k = g.extent(1, 5);
    const bool query = g.coin();
    const auto projected = [&](const Dims& perm) {
        ValueId y = g.add(op::MatMul, {g.input({n, rows, k}), g.constant({k, width})});
        if (g.coin()) y = g.either_way(op::Add, y, g.constant({width}));
        y = g.add(op::Reshape, {y, g.integers({n, rows, heads, d})});
        return g.add(op::Transpose, {y}, {{"perm", perm}});
    };
    const ValueId q = query ? projected({0, 2, 1, 3}) : g.input({n, heads, rows, d});
    const ValueId keys = query ? g.input({n, heads, d, g.extent(1, 5)}) : projected({0, 2, 3, 1});
    const ValueId scores = g.add(op::MatMul, {q, keys});
    const ValueId c = g.constant({});
    return g.finish({g.coin() ? g.add(op::Div, {scores, c}) : g.either_way(op::Mul, scores, c)});
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
            .apply = apply_fold_attention_scale,
            .instance = fold_attention_scale_instance};
}

}  // namespace viridian::rewrite
