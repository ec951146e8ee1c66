#include "viridian/gradient/term.hpp"

#include <algorithm>
#include <numeric>

#include "viridian/gradient/scalar.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::gradient {
namespace {

Term binary(graph::KnownOperator op, Term a, Term b) { return a.builder->add(op, {a, b}); }
Term binary(graph::KnownOperator op, Term a, double b) {
    return a.builder->add(op, {a, a.builder->number(b, a)});
}
Term binary(graph::KnownOperator op, double a, Term b) {
    return b.builder->add(op, {b.builder->number(a, b), b});
}

}  // namespace

Term Builder::add(graph::Operator op, const std::vector<Term>& inputs, Attributes attributes) {
    return add(std::move(op), inputs, std::move(attributes), 1)[0];
}

void Builder::at(const Node* forward, graph::Phase phase) {
    pattern_ = Node();
    pattern_.phase = phase;
    if (forward == nullptr) return;
    pattern_.name = forward->name + (phase == graph::Phase::update ? ".update" : ".gradient");
    pattern_.origin = forward->origin;
    pattern_.twin = forward->origin.empty() ? forward->name : forward->origin[0];
}

std::vector<Term> Builder::place(Node node, const std::vector<Term>& inputs, std::size_t outputs) {
    node.name = pattern_.name;
    node.origin = pattern_.origin;
    node.phase = pattern_.phase;
    node.twin = pattern_.twin;
    for (const Term& input : inputs) node.inputs.push_back(input.id);
    const NodeId id = graph_.add_node(std::move(node), outputs);
    if (auto typed = infer_node_types(graph_, id); !typed.ok()) throw Refusal{typed.error()};
    std::vector<Term> terms;
    for (const ValueId output : graph_.node(id).outputs) terms.push_back({this, output});
    return terms;
}

std::vector<Term> Builder::add(graph::Operator op, const std::vector<Term>& inputs, Attributes attributes,
                               std::size_t outputs) {
    Node node;
    node.op = std::move(op);
    node.attributes = std::move(attributes);
    return place(std::move(node), inputs, outputs);
}

std::shared_ptr<const Graph> Builder::body(graph::KnownOperator op, const std::vector<Term>& inputs,
                                           const Meaning& meaning) const {
    Graph body;
    body.name = std::string(op.name());
    Builder inside(body);
    std::vector<Term> own;
    for (const Term& input : inputs)
        own.push_back(inside.value(body.add_input("x", graph_.value(input.id).type)));
    std::vector<ValueId> results;
    for (const Term& result : meaning(inside, own)) results.push_back(result.id);
    body.set_outputs(std::move(results));
    return std::make_shared<const Graph>(std::move(body));
}

std::vector<Term> Builder::call(graph::KnownOperator op, const std::vector<Term>& inputs,
                                Attributes attributes, const Meaning& meaning) {
    Node node;
    node.op = op;
    node.attributes = std::move(attributes);
    node.bodies = {body(op, inputs, meaning)};
    const std::size_t outputs = node.bodies[0]->outputs().size();
    return place(std::move(node), inputs, outputs);
}

Term Builder::number(double value, Term like) {
    const auto [found, fresh] = numbers_.try_emplace({element(like), value}, ValueId::none);
    if (fresh) found->second = graph_.add_constant("number", scalar_of(element(like), value));
    return {this, found->second};
}

Term Builder::integers(const Dims& values) {
    const auto [found, fresh] = integers_.try_emplace(values, ValueId::none);
    if (fresh)
        found->second =
            graph_.add_constant("integers", Tensor::i64({static_cast<std::int64_t>(values.size())}, values));
    return {this, found->second};
}

Term Builder::constant(Tensor tensor) { return {this, graph_.add_constant("constant", std::move(tensor))}; }

const Dims& Builder::dims(Term term) {
    const auto found = dims_.find(term.id);
    if (found != dims_.end()) return found->second;
    const graph::Value& value = graph_.value(term.id);
    if (!value.type.known())
        throw Refusal{fail(ErrorCode::unsupported, "give its dimensions with --dim NAME=N",
                           "`{}` is {}, and gradients need every extent as a number", value.name,
                           text(value.type))};
    return dims_.emplace(term.id, value.type.dims()).first->second;
}

Term operator+(Term a, Term b) { return binary(op::Add, a, b); }
Term operator-(Term a, Term b) { return binary(op::Sub, a, b); }
Term operator*(Term a, Term b) { return binary(op::Mul, a, b); }
Term operator/(Term a, Term b) { return binary(op::Div, a, b); }
Term operator+(Term a, double b) { return binary(op::Add, a, b); }
Term operator-(Term a, double b) { return binary(op::Sub, a, b); }
Term operator-(double a, Term b) { return binary(op::Sub, a, b); }
Term operator*(Term a, double b) { return b == 1 ? a : binary(op::Mul, a, b); }
Term operator/(Term a, double b) { return b == 1 ? a : binary(op::Div, a, b); }
Term operator/(double a, Term b) { return binary(op::Div, a, b); }
Term operator-(Term a) { return apply(op::Neg, a); }

Term operator>(Term a, Term b) { return binary(op::Greater, a, b); }
Term operator>(Term a, double b) { return binary(op::Greater, a, b); }
Term operator<(Term a, Term b) { return binary(op::Less, a, b); }
Term operator<(Term a, double b) { return binary(op::Less, a, b); }
Term operator>=(Term a, double b) { return binary(op::GreaterOrEqual, a, b); }
Term operator<=(Term a, double b) { return binary(op::LessOrEqual, a, b); }
Term equal(Term a, Term b) { return binary(op::Equal, a, b); }
Term both(Term a, Term b) { return binary(op::And, a, b); }
Term where(Term condition, Term yes, Term no) { return yes.builder->add(op::Where, {condition, yes, no}); }
Term where(Term condition, Term yes, double no) {
    return where(condition, yes, yes.builder->number(no, yes));
}

Term apply(graph::KnownOperator op, Term x) { return x.builder->add(op, {x}); }
Term exp(Term x) { return apply(op::Exp, x); }
Term log(Term x) { return apply(op::Log, x); }
Term sqrt(Term x) { return apply(op::Sqrt, x); }
Term square(Term x) { return x * x; }

Term matmul(Term a, Term b) { return binary(op::MatMul, a, b); }

Term cast(Term x, ElementType to) {
    if (x.builder->element(x) == to) return x;
    return x.builder->add(op::Cast, {x}, {{"to", graph::onnx_code_of(to)}});
}

Term reshape(Term x, const Dims& dims) {
    if (x.builder->dims(x) == dims) return x;
    return x.builder->add(op::Reshape, {x, x.builder->integers(dims)}, {{"allowzero", std::int64_t{1}}});
}

Term like(Term x, Term other) { return reshape(x, other.builder->dims(other)); }

Term expand(Term x, const Dims& dims) {
    if (x.builder->dims(x) == dims) return x;
    return x.builder->add(op::Expand, {x, x.builder->integers(dims)});
}

Term transpose(Term x, const Dims& order) {
    Dims plain(order.size());
    std::iota(plain.begin(), plain.end(), 0);
    if (order == plain) return x;
    Builder& b = *x.builder;
    const graph::Node* node = b.graph().producer(x.id);
    if (node != nullptr && node->op == op::Transpose) {  // one that this undoes?
        const Dims before = node->get("perm", Dims(plain.rbegin(), plain.rend()));
        Dims both;
        for (const std::int64_t axis : order) both.push_back(before[static_cast<std::size_t>(axis)]);
        if (both == plain) return b.value(node->inputs[0]);
    }
    return b.add(op::Transpose, {x}, {{"perm", order}});
}

Term swap_last(Term x) {
    Dims order(x.builder->dims(x).size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return transpose(x, order);
}

Term sum(Term x, const Dims& axes, bool keep) {
    if (axes.empty()) return x;
    return x.builder->add(op::ReduceSum, {x, x.builder->integers(axes)},
                          {{"keepdims", std::int64_t{keep ? 1 : 0}}});
}

Term mean(Term x, const Dims& axes, bool keep) {
    if (axes.empty()) return x;
    return x.builder->add(op::ReduceMean, {x, x.builder->integers(axes)},
                          {{"keepdims", std::int64_t{keep ? 1 : 0}}});
}

Term concat(const std::vector<Term>& parts, std::int64_t axis) {
    return parts.size() == 1 ? parts[0] : parts[0].builder->add(op::Concat, parts, {{"axis", axis}});
}

Term slice(Term x, std::int64_t axis, std::int64_t start, std::int64_t end) {
    Builder& b = *x.builder;
    if (start == 0 && end == b.dims(x)[static_cast<std::size_t>(axis)]) return x;
    return b.add(op::Slice, {x, b.integers({start}), b.integers({end}), b.integers({axis})});
}

Term pad(Term x, const Dims& before, const Dims& after) {
    Dims pads = before;
    pads.insert(pads.end(), after.begin(), after.end());
    if (std::ranges::all_of(pads, [](std::int64_t n) { return n == 0; })) return x;
    return x.builder->add(op::Pad, {x, x.builder->integers(pads)});
}

Term reduce_to(Term x, Term other) { return reduce_to(x, Dims(x.builder->dims(other))); }

Term reduce_to(Term x, const Dims& to) {
    const Dims from = x.builder->dims(x);
    if (from == to) return x;
    invariant(from.size() >= to.size(), "a broadcast result has at least the rank of its operands");
    const std::size_t extra = from.size() - to.size();
    Dims axes;
    for (std::size_t i = 0; i < from.size(); ++i)
        if (i < extra || (to[i - extra] == 1 && from[i] != 1)) axes.push_back(static_cast<std::int64_t>(i));
    return reshape(sum(x, axes), to);
}

}  // namespace viridian::gradient
