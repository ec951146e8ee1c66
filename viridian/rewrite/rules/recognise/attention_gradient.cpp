#include "viridian/rewrite/rules/recognise/attention_gradient.hpp"

#include <cmath>
#include <map>
#include <set>

namespace viridian::rewrite {
namespace {

// x · number, in either order, or x / number.
struct Scaled {
    ValueId x = ValueId::none;
    double by = 1;
};
std::optional<Scaled> scaled(const Editor& editor, ValueId value) {
    if (const Node* node = editor.producer(value, op::Mul))
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
            if (const auto number = editor.scalar(node->inputs[i]))
                if (editor.same_type(node->inputs[1 - i], value)) return Scaled{node->inputs[1 - i], *number};
    if (const Node* node = editor.producer(value, op::Div))
        if (const auto number = editor.scalar(node->inputs[1]))
            if (editor.same_type(node->inputs[0], value)) return Scaled{node->inputs[0], 1 / *number};
    return std::nullopt;
}

// Whether `a` is `b` with its last two axes exchanged.
bool turns(const Editor& editor, ValueId a, ValueId b) {
    const auto source = [&](ValueId value) {
        const Node* node = editor.producer(value, op::Transpose);
        const auto rank = editor.rank(value);
        Dims order;
        for (std::int64_t i = 0; i < rank.value_or(0); ++i) order.push_back(i);
        if (node == nullptr) return std::pair(value, order);
        return std::pair(node->inputs[0], node->get("perm", Dims(order.rbegin(), order.rend())));
    };
    const auto is_turned = [](Dims of, const Dims& order) {
        if (of.size() < 2) return false;
        std::swap(of[of.size() - 1], of[of.size() - 2]);
        return of == order;
    };
    const auto [from_a, order_a] = source(a);
    const auto [from_b, order_b] = source(b);
    Dims plain;
    for (std::size_t i = 0; i < order_a.size(); ++i) plain.push_back(static_cast<std::int64_t>(i));
    return (from_a == b && is_turned(plain, order_a)) || (from_b == a && is_turned(plain, order_b)) ||
           (from_a == from_b && is_turned(order_b, order_a));
}

// Where(flags, x, number) or Where(flags, number, x), as large as x.
struct Hidden {
    ValueId x = ValueId::none, flags = ValueId::none;
    bool flags_keep = true;
    double number = 0;
};
std::optional<Hidden> hidden(const Editor& editor, ValueId value) {
    const Node* node = editor.producer(value, op::Where);
    if (node == nullptr || !editor.dims(node->inputs[0])) return std::nullopt;
    for (const bool keep : {true, false}) {
        const ValueId x = node->inputs[keep ? 1 : 2];
        const auto number = editor.scalar(node->inputs[keep ? 2 : 1]);
        if (number && editor.same_type(x, value)) return Hidden{x, node->inputs[0], keep, *number};
    }
    return std::nullopt;
}

// scores = hide(q·k·scale + masks)
bool read_scores(const Editor& editor, ValueId scores, GradientOfAttention& found) {
    if (const auto where = hidden(editor, scores)) {
        found.flags = where->flags, found.flags_keep = where->flags_keep;
        found.hidden_score = where->number;
        scores = where->x;
    }
    while (const Node* sum = editor.producer(scores, op::Add)) {
        const auto is_score = [&](ValueId value) {
            return editor.same_type(value, scores) &&
                   (editor.producer(value, op::MatMul) != nullptr || scaled(editor, value) ||
                    editor.producer(value, op::Add) != nullptr);
        };
        const std::size_t at = is_score(sum->inputs[0]) ? 0 : 1;
        if (!is_score(sum->inputs[at]) || found.masks.size() == 2) return false;
        found.masks.push_back(sum->inputs[1 - at]);
        scores = sum->inputs[at];
    }
    while (const auto factor = scaled(editor, scores)) found.scale *= factor->by, scores = factor->x;
    const Node* product = editor.producer(scores, op::MatMul);
    if (product == nullptr) return false;
    found.q = product->inputs[0], found.k = product->inputs[1];
    return true;
}

// 0 where the dropout does not keep, x elsewhere.
std::optional<ValueId> chosen(const Editor& editor, ValueId value, ValueId& kept) {
    const Node* node = editor.producer(value, op::Where);
    if (node == nullptr || editor.scalar(node->inputs[2]) != 0.0 ||
        !editor.same_type(node->inputs[1], value) || editor.dims(node->inputs[0]) != editor.dims(value))
        return std::nullopt;
    kept = node->inputs[0];
    return node->inputs[1];
}

// x = raw · kept · kept_scale, in any order, of which nothing else reads a part. Returns raw.
std::optional<ValueId> before_dropout(const Editor& editor, ValueId x, ValueId& kept, double& kept_scale) {
    for (;;) {
        if (const auto factor = scaled(editor, x)) {
            kept_scale *= factor->by, x = factor->x;
        } else if (ValueId by = ValueId::none; const auto rest = chosen(editor, x, by)) {
            if (kept != ValueId::none) return std::nullopt;
            kept = by, x = *rest;
        } else {
            return x;
        }
    }
}

// What reads `value`, of the operator `op`; nothing if there are several, or others.
const Node* only_reader(const Editor& editor, ValueId value, graph::KnownOperator op) {
    if (!editor.used_once(value) || editor.is_output(value)) return nullptr;
    const Node& node = editor.node(editor.readers(value)[0]);
    return node.op == op ? &node : nullptr;
}

// The products that read the gradient of the scores: dq = ds·kᵀ and dk = qᵀ·ds.
bool read_results(const Editor& editor, ValueId ds, GradientOfAttention& found) {
    double scale = 1;
    if (found.flags != ValueId::none) {
        const Node* where = only_reader(editor, ds, op::Where);
        const auto by = where == nullptr ? std::nullopt : hidden(editor, where->outputs[0]);
        if (!by || by->x != ds || by->flags != found.flags || by->flags_keep != found.flags_keep ||
            by->number != 0)
            return false;
        ds = where->outputs[0];
    }
    while (editor.used_once(ds) && !editor.is_output(ds)) {
        const ValueId next = editor.node(editor.readers(ds)[0]).outputs[0];
        const auto by = scaled(editor, next);
        if (!by || by->x != ds) return false;
        scale *= by->by, ds = next;
    }
    if (std::abs(scale - found.scale) > 1e-6 * std::abs(found.scale) || editor.use_count(ds) != 2 ||
        editor.is_output(ds))
        return false;
    for (const NodeId id : editor.readers(ds)) {
        const Node& node = editor.node(id);
        if (node.op != op::MatMul) return false;
        if (node.inputs[0] == ds && turns(editor, node.inputs[1], found.k)) found.dq = node.outputs[0];
        if (node.inputs[1] == ds && turns(editor, node.inputs[0], found.q)) found.dk = node.outputs[0];
    }
    return found.dq != ValueId::none && found.dk != ValueId::none;
}

// Whether x = p · kept · kept_scale.
bool is_dropout_of(const Editor& editor, ValueId x, ValueId p, const GradientOfAttention& found) {
    ValueId kept = ValueId::none;
    double kept_scale = 1;
    return before_dropout(editor, x, kept, kept_scale) == p && kept == found.kept &&
           std::abs(kept_scale - found.kept_scale) <= 1e-6 * std::abs(found.kept_scale);
}

// a·b, if it is there.
std::optional<ValueId> product_of(const Editor& editor, ValueId a, ValueId b) {
    for (const NodeId id : editor.readers(a)) {
        const Node& node = editor.node(id);
        if (node.op == op::MatMul && node.inputs[0] == a && node.inputs[1] == b) return node.outputs[0];
    }
    return std::nullopt;
}

// dv = (p · kept · kept_scale)ᵀ·dy, and the forward product with v, found from the probabilities p on through
// the nodes of a dropout.
bool read_value_gradient(const Editor& editor, ValueId p, GradientOfAttention& found) {
    std::set<ValueId> seen = {p};
    std::vector<ValueId> open = {p};
    while (!open.empty()) {
        const ValueId x = open.back();
        open.pop_back();
        if (editor.is_output(x)) return false;  // it is kept, so there is nothing to gain
        for (const NodeId id : editor.readers(x)) {
            const Node& node = editor.node(id);
            ValueId kept = ValueId::none;
            const ValueId made = node.outputs[0];
            const auto factor = scaled(editor, made);
            if (((factor && factor->x == x) || chosen(editor, made, kept) == x) && seen.insert(made).second)
                open.push_back(made);
            if (node.op == op::MatMul && node.inputs[0] == x && turns(editor, found.turned_v, node.inputs[1]))
                found.v = node.inputs[1];
            if (node.op == op::Transpose && turns(editor, made, x) && is_dropout_of(editor, x, p, found))
                if (const auto product = product_of(editor, made, found.dy)) found.dv = *product;
        }
    }
    return found.dv != ValueId::none && found.v != ValueId::none;
}

// Whether the node computes p · (g − Σ g · p): a file may give it another body.
bool means_softmax_gradient(const Node& node) {
    if (node.op != op::SoftmaxGrad || node.inputs.size() != 2 || node.bodies.size() != 1) return false;
    std::map<std::string, int> parts;
    const Graph& body = *node.bodies[0];
    for (const NodeId id : body.nodes()) ++parts[std::string(body.node(id).op.name())];
    return parts == std::map<std::string, int>{{"Mul", 2}, {"ReduceSum", 1}, {"Sub", 1}};
}

// Whether `value` is computed from `from`.
bool follows(const Editor& editor, ValueId value, ValueId from) {
    std::set<ValueId> seen;
    std::vector<ValueId> open = {value};
    while (!open.empty()) {
        const ValueId x = open.back();
        open.pop_back();
        if (x == from) return true;
        const NodeId producer = editor.producer_id(x);
        if (producer == NodeId::none) continue;
        for (const ValueId input : editor.node(producer).inputs)
            if (input != ValueId::none && seen.insert(input).second) open.push_back(input);
    }
    return false;
}

}  // namespace

std::optional<GradientOfAttention> gradient_of_attention(const Editor& editor, const Node& node) {
    if (!means_softmax_gradient(node)) return std::nullopt;
    const ValueId p = node.inputs[1], g = node.inputs[0];
    const auto rank = editor.rank(p);
    const Node* softmax = editor.producer(p, op::Softmax);
    if (softmax == nullptr || !rank || !editor.dims(p)) return std::nullopt;
    const auto is_last = [&](const Node& of) {
        const std::int64_t axis = of.integer("axis", -1);
        return axis == -1 || axis == *rank - 1;
    };
    GradientOfAttention found;
    if (!is_last(node) || !is_last(*softmax) || !read_scores(editor, softmax->inputs[0], found))
        return std::nullopt;
    const auto raw = before_dropout(editor, g, found.kept, found.kept_scale);
    if (!raw || (*raw != g && !editor.used_once(g)) || !editor.used_once(*raw) || editor.is_output(*raw))
        return std::nullopt;
    const Node* product = editor.producer(*raw, op::MatMul);
    if (product == nullptr) return std::nullopt;
    found.dy = product->inputs[0];
    found.turned_v = product->inputs[1];
    if (const Node* transpose = editor.producer(found.turned_v, op::Transpose);
        transpose != nullptr && turns(editor, found.turned_v, transpose->inputs[0]))
        found.v = transpose->inputs[0];
    if (!read_results(editor, node.outputs[0], found) || !read_value_gradient(editor, p, found) ||
        follows(editor, found.v, found.dv))  // one node cannot give dv and read v then
        return std::nullopt;
    found.rank = *rank;
    // Softmax's gradient of 16 bits sums in f32, and the kernel that is worth it computes in f32.
    if (editor.element(found.q) != ElementType::f32 && editor.element(found.q) != ElementType::f64)
        return std::nullopt;
    const std::vector<ValueId> matrices = {found.q, found.k, found.v, found.dy};
    for (const ValueId value : matrices)
        if (editor.rank(value).value_or(0) < 2 || !editor.dims(value)) return std::nullopt;
    for (const ValueId mask : found.masks)
        if (!editor.dims(mask)) return std::nullopt;
    return found;
}

}  // namespace viridian::rewrite
