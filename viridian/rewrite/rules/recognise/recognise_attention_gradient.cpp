// Recognises the gradient of attention as one node, which computes the probabilities again: they need not be
// kept between the forward and the backward part of a training step, so that both parts can keep them in
// cache. Dao et al. 2022, appendix B, gives the equations.
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "viridian/graph/operators/training/attention_grad.hpp"
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

constexpr std::array<std::int64_t, 1> last_axis = {-1};

// Everything that is read on the way: y = (Softmax(q·k·scale + masks) · kept · kept_scale)·v.
struct GradientOfAttention {
    ValueId q = ValueId::none, k = ValueId::none, v = ValueId::none, dy = ValueId::none;
    ValueId kept = ValueId::none;
    std::vector<ValueId> masks;
    double scale = 1, kept_scale = 1;
    ValueId turned_v = ValueId::none;  // vᵀ, as the backward part reads it
    std::int64_t rank = 0;             // of the scores
    ValueId dq = ValueId::none, dk = ValueId::none, dv = ValueId::none;
};

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

// scores = q·k·scale + masks
bool read_scores(const Editor& editor, ValueId scores, GradientOfAttention& found) {
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
    while (const Node* factor = only_reader(editor, ds, op::Mul)) {
        const auto by = scaled(editor, factor->outputs[0]);
        if (!by || by->x != ds) return false;
        scale *= by->by, ds = factor->outputs[0];
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

std::optional<GradientOfAttention> gradient_at(const Editor& editor, const Node& node) {
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

// The operators that the node stands for.
class BodyOfGradient {
  public:
    BodyOfGradient(const Editor& editor, const GradientOfAttention& found, const std::vector<ValueId>& inputs)
        : found_(found), element_(editor.element(found.q)) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::string name = i < 4 ? std::array{"q", "k", "v", "dy"}[i] : fmt::format("x{}", i);
            own_.push_back(body_.add_input(name, editor.graph().value(inputs[i]).type));
        }
        for (std::size_t i = 0; i < 4; ++i) ranks_.push_back(*editor.rank(inputs[i]));
    }

    std::shared_ptr<const Graph> make() {
        const ValueId q = own_[0], k = own_[1], v = own_[2], dy = own_[3];
        const bool drops = found_.kept != ValueId::none;
        ValueId scores = times(body_.add(op::MatMul, {q, k}), found_.scale);
        for (std::size_t i = drops ? 5 : 4; i < own_.size(); ++i)
            scores = body_.add(op::Add, {scores, own_[i]});
        const ValueId p = body_.add(op::Softmax, {scores}, {{"axis", std::int64_t{-1}}});
        const ValueId dv = body_.add(op::MatMul, {turned(dropped(p), found_.rank), dy});
        const ValueId g = dropped(body_.add(op::MatMul, {dy, turned(v, ranks_[2])}));
        const ValueId product = body_.add(op::Mul, {g, p});
        const ValueId axes = body_.add_constant("axes", Tensor::i64({1}, last_axis));
        const ValueId sum = body_.add(op::ReduceSum, {product, axes}, {{"keepdims", std::int64_t{1}}});
        const ValueId ds = times(body_.add(op::Sub, {product, body_.add(op::Mul, {p, sum})}), found_.scale);
        const ValueId dq = body_.add(op::MatMul, {ds, turned(k, ranks_[1])});
        const ValueId dk = body_.add(op::MatMul, {turned(q, ranks_[0]), ds});
        body_.name = "attention_gradient";
        body_.set_outputs({dq, dk, dv});
        return std::make_shared<const Graph>(std::move(body_));
    }

  private:
    ValueId number(double value) {
        const ValueId wide =
            body_.add_constant("number", Tensor::of<double>(ElementType::f64, {}, std::span(&value, 1)));
        if (element_ == ElementType::f64) return wide;
        return body_.add(op::Cast, {wide}, {{"to", graph::onnx_code_of(element_)}});
    }
    ValueId times(ValueId x, double factor) {
        return factor == 1 ? x : body_.add(op::Mul, {x, number(factor)});
    }
    ValueId dropped(ValueId x) {
        x = times(x, found_.kept_scale);
        return found_.kept == ValueId::none ? x : body_.add(op::Where, {own_[4], x, number(0)});
    }
    ValueId turned(ValueId x, std::int64_t rank) {
        Dims order;
        for (std::int64_t i = 0; i < rank; ++i) order.push_back(i);
        std::swap(order[order.size() - 1], order[order.size() - 2]);
        return body_.add(op::Transpose, {x}, {{"perm", order}});
    }

    const GradientOfAttention& found_;
    ElementType element_;
    Graph body_;
    std::vector<ValueId> own_;
    Dims ranks_;  // of q, k, v and dy
};

bool apply_recognise_attention_gradient(Editor& editor, NodeId at) {
    if (!means_softmax_gradient(editor.node(at))) return false;
    const auto found = gradient_at(editor, editor.node(at));
    if (!found) return false;
    Node node;
    node.op = op::AttentionGrad;
    node.inputs = {found->q, found->k, found->v, found->dy};
    if (found->kept != ValueId::none) node.inputs.push_back(found->kept);
    node.inputs.insert(node.inputs.end(), found->masks.begin(), found->masks.end());
    node.attributes["scale"] = found->scale;
    node.attributes["kept_scale"] = found->kept_scale;
    node.bodies = {BodyOfGradient(editor, *found, node.inputs).make()};
    const std::vector<ValueId> made = editor.add_node(std::move(node), 3);
    editor.replace(found->dq, made[0]);
    editor.replace(found->dk, made[1]);
    editor.replace(found->dv, made[2]);
    return true;
}

Graph recognise_attention_gradient_instance(Random& random, ElementType element) {
    RandomGraph r(random, element);
    const std::int64_t n = r.extent(1, 2), h = r.extent(1, 3), rows = r.extent(2, 5), keys = r.extent(2, 6);
    const std::int64_t d = r.extent(2, 4), e = r.extent(2, 5);
    const Dims turn = {0, 1, 3, 2};
    const auto turned = [&](ValueId x) { return r.add(op::Transpose, {x}, {{"perm", turn}}); };
    const ValueId q = r.input({n, h, rows, d}), k = r.input({n, h, d, keys}), v = r.input({n, h, keys, e});
    const ValueId dy = r.input({n, h, rows, e});
    const bool scales = r.coin(), drops = r.coin(), multiplies = drops || r.coin();
    const auto times = [&](ValueId x, double by) { return r.either_way(op::Mul, x, r.scalar(by)); };
    ValueId scores = r.add(op::MatMul, {q, k});
    if (scales) scores = times(scores, 0.25);
    if (r.coin()) scores = r.either_way(op::Add, scores, r.input({n, 1, 1, keys}));
    const ValueId p = r.add(op::Softmax, {scores}, {{"axis", std::int64_t{r.coin() ? -1 : 3}}});
    ValueId kept = ValueId::none;
    if (drops) kept = r.add(op::Greater, {r.input({n, h, rows, keys}), r.scalar(0)});
    const ValueId zero = r.scalar(0);
    ValueId weights = multiplies ? times(p, 2) : p;
    if (drops) weights = r.add(op::Where, {kept, weights, zero});
    const ValueId y = r.add(op::MatMul, {weights, v});
    const ValueId dv = r.add(op::MatMul, {turned(weights), dy});
    ValueId g = r.add(op::MatMul, {dy, turned(v)});
    if (drops) g = r.add(op::Where, {kept, g, zero});
    if (multiplies) g = times(g, 2);
    Graph body;
    const TensorType type{element, graph::shape_of({n, h, rows, keys})};
    const ValueId bg = body.add_input("g", type), bp = body.add_input("y", type);
    const ValueId product = body.add(op::Mul, {bg, bp});
    const ValueId axes = body.add_constant("axes", Tensor::i64({1}, last_axis));
    const ValueId sum = body.add(op::ReduceSum, {product, axes}, {{"keepdims", std::int64_t{1}}});
    body.set_outputs({body.add(op::Sub, {product, body.add(op::Mul, {bp, sum})})});
    Node node;
    node.op = op::SoftmaxGrad;
    node.inputs = {g, p};
    node.attributes["axis"] = std::int64_t{3};
    node.bodies = {std::make_shared<const Graph>(std::move(body))};
    ValueId ds = r.graph.node(r.graph.add_node(std::move(node), 1)).outputs[0];
    if (scales) ds = times(ds, 0.25);
    const ValueId dq = r.add(op::MatMul, {ds, turned(k)}), dk = r.add(op::MatMul, {turned(q), ds});
    return r.finish({y, r.used(dq), r.used(dk), r.used(dv)});
}

}  // namespace

Rule recognise_attention_gradient() {
    return {
        .name = "recognise_attention_gradient",
        .source = "Dao et al. 2022, appendix B",
        .equation =
            "with p = Softmax(q·k·s + m), y = (p·c)·v, g = (dy·vᵀ)·c, ds = s·SoftmaxGrad(g, p): "
            "ds·kᵀ, qᵀ·ds, (p·c)ᵀ·dy ⇒ viridian.AttentionGrad(q, k, v, dy, c, m; s), which computes p again",
        .guards =
            "softmax along the last axis, s a constant number, c a choice of a dropout and its scale; "
            "nothing else reads what lies between, and p is no output",
        .apply = apply_recognise_attention_gradient,
        .instance = recognise_attention_gradient_instance};
}

}  // namespace viridian::rewrite
