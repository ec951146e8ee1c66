// Recognises the gradient of attention as one node, which computes the probabilities again: they need not be
// kept between the forward and the backward part of a training step, so that both parts can keep them in
// cache. Dao et al. 2022, appendix B, gives the equations.
#include <array>
#include <optional>

#include "viridian/graph/operators/training/attention_grad.hpp"
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/recognise/attention_gradient.hpp"

namespace viridian::rewrite {
namespace {

constexpr std::array<std::int64_t, 1> last_axis = {-1};

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
        for (std::size_t i = 0; i < found_.masks.size(); ++i)
            scores = body_.add(op::Add, {scores, own_[(drops ? 5 : 4) + i]});
        scores = hide(scores, found_.hidden_score);
        const ValueId p = body_.add(op::Softmax, {scores}, {{"axis", std::int64_t{-1}}});
        const ValueId dv = body_.add(op::MatMul, {turned(dropped(p), found_.rank), dy});
        const ValueId g = dropped(body_.add(op::MatMul, {dy, turned(v, ranks_[2])}));
        const ValueId product = body_.add(op::Mul, {g, p});
        const ValueId axes = body_.add_constant("axes", Tensor::i64({1}, last_axis));
        const ValueId sum = body_.add(op::ReduceSum, {product, axes}, {{"keepdims", std::int64_t{1}}});
        const ValueId dp = body_.add(op::Sub, {product, body_.add(op::Mul, {p, sum})});
        const ValueId ds = times(hide(dp, 0), found_.scale);
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
    ValueId hide(ValueId x, double value) {
        if (found_.flags == ValueId::none) return x;
        const ValueId flags = own_.back(), stands = number(value);
        return found_.flags_keep ? body_.add(op::Where, {flags, x, stands})
                                 : body_.add(op::Where, {flags, stands, x});
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
    const auto found = gradient_of_attention(editor, editor.node(at));
    if (!found) return false;
    Node node;
    node.op = op::AttentionGrad;
    node.inputs = {found->q, found->k, found->v, found->dy};
    if (found->kept != ValueId::none) node.inputs.push_back(found->kept);
    node.inputs.insert(node.inputs.end(), found->masks.begin(), found->masks.end());
    if (found->flags != ValueId::none) {
        node.inputs.push_back(found->flags);
        node.attributes["hides"] = std::int64_t{found->flags_keep ? 1 : 2};
        node.attributes["hidden_score"] = found->hidden_score;
    }
    node.attributes["drops"] = std::int64_t{found->kept != ValueId::none};
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
    const bool divides = r.coin();
    const auto times = [&](ValueId x, double by) {
        return divides ? r.add(op::Div, {x, r.scalar(1 / by)}) : r.either_way(op::Mul, x, r.scalar(by));
    };
    ValueId scores = r.add(op::MatMul, {q, k});
    if (scales) scores = times(scores, 0.25);
    if (r.coin()) scores = r.either_way(op::Add, scores, r.input({n, 1, 1, keys}));
    ValueId flags = ValueId::none;
    const bool keep = r.coin(), hides = r.coin();
    const auto hide = [&](ValueId x, double number) {
        return keep ? r.add(op::Where, {flags, x, r.scalar(number)})
                    : r.add(op::Where, {flags, r.scalar(number), x});
    };
    if (hides) {
        flags = r.add(op::Greater, {r.input({n, 1, r.coin() ? rows : 1, keys}), r.scalar(0)});
        scores = hide(scores, -3);
    }
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
    if (hides) ds = hide(ds, 0);
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
            "with p = Softmax(hide(q·k·s + m)), y = (p·c)·v, g = (dy·vᵀ)·c, ds = s·hide(SoftmaxGrad(g, p)): "
            "ds·kᵀ, qᵀ·ds, (p·c)ᵀ·dy ⇒ viridian.AttentionGrad(q, k, v, dy, c, m, h; s), which computes p "
            "again",
        .guards =
            "softmax along the last axis, s a constant number, c a choice of a dropout and its scale, hide a "
            "Where with a number; "
            "nothing else reads what lies between, and p is no output",
        .apply = apply_recognise_attention_gradient,
        .instance = recognise_attention_gradient_instance};
}

}  // namespace viridian::rewrite
